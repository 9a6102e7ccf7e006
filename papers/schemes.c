/* Which options give the schemes of the papers exactly, and what is wrong in the papers. */
#include "tables.h"

static const pp_scheme schemes[] = {
    {"000 (AB07)", "index 3, exact equilibrium; a₀ = q̈₀ (3)",
     "--method index3 --rho 0.7 --shift-a false --perturb-v false",
     "or --a0 with the numbers themselves, one for each velocity. q₀, q̇₀ as in the paper: consistent. From "
     "rest --perturb-v has no effect"},
    {"001 (JN-NH)", "(2.3), weighted, k = 0; a_α = a₀",
     "--method weighted --rho 0.2 --shift-a false --perturb-v false",
     "M_α evaluated anew; --mass-alpha previous takes that of the step before"},
    {"002 (ACB15)", "(3) on R³×SO(3), body angular velocity, starting values of [3]",
     "form: body; --method index3 --rho 0.9 --commutator false", "a₀ and v₀ perturbed, the default"},
    {"002 (ACB15)", "(3) from consistent v₀",
     "form: body; --method index3 --rho 0.9 --commutator false --perturb-v false",
     "λ has order 1 at the start"},
    {"002 (ACB15)", "stabilized index 2 (Fig. 4)",
     "form: body; --method stabilized --rho 0.9 --commutator false", ""},
    {"002 (ACB15)", "SE(3)", "form: se3; --method index3 --rho 0.9 --commutator false", ""},
    {"002 (ACB15)", "velocity projection (7) at t = 0.7 s (Figs. 1, 2)",
     "form: body; --method index3 --rho 0.9 --commutator false --project-velocity plain "
     "--project-velocity-at 0.7",
     "after the first step that ends there; in C ga_stepper_project_velocity(), ga_simulate_opts.project_at"},
    {"002 (ACB15)", "projection onto B v = h²B r",
     "form: body; --method index3 --rho 0.9 --commutator false --project-velocity offset "
     "--project-velocity-at 0.7",
     ""},
    {"003 (BA08)", "Algorithm 1; a₀ = q̈₀, w₀ = ẋ₀; γ_n, θ_n by (29)",
     "--method index3 --rho 0.8 --shift-a false --perturb-v false --adjust gamma",
     "states by (13). With constraints and changing steps also --move-offset false, which costs λ an order"},
    {"003 (BA08)", "the same with fixed γ, θ",
     "--method index3 --rho 0.8 --shift-a false --perturb-v false --adjust none",
     "order 1 where steps change"},
    {"004 (JN08)", "generalized-α-SOI2 (9), (13); a_α = a₀; (14a), (14b)",
     "--method soi2 --rho 0.2 --shift-a false --adjust shift --mass-alpha previous", ""},
    {"004 (JN08)", "a_α by (8)", "--method soi2 --rho 0.2 --shift-a true",
     "a₀ + αh ȧ₀ with ȧ₀ of the equations: the same to O(h²) as the implicit (8)"},
    {"004 (JN08)", "HHT-SOI2 (17)", "--method hht_soi2 --scheme hht --hht-alpha -0.3 --shift-a false", ""},
    {"004 (JN08)", "HHT-I3",
     "--method weighted --scheme hht --hht-alpha -0.3 --shift-a false --perturb-v false", ""},
};

static const pp_erratum errata[] = {
    {"000 (AB07)", "assumes that M is not singular, but both of its models have hinges without mass; what is "
                   "needed is that "
                   "[M Bᵀ; B 0] is not singular."},
    {"000 (AB07)", "λ has order 2 from a₀ = q̈₀ only because both machines start from rest; from a moving "
                   "start it has order 1 "
                   "in the first steps, unless v₀ is perturbed (002-cures)."},
    {"001 (JN-NH)", "(7.2): f₄ lacks −I₂ c₃ z₃ z₅; with it energy is conserved (001-energy). The sign of k "
                    "disagrees with T."},
    {"001 (JN-NH)", "Theorem 6.1: the bound of a lacks the term of r_αm^n."},
    {"002 (ACB15)", "(8): the first component is −(1/h)B v_n + h B r + ζ_n, and r is (2(1−6β−3Δ)v̈ + [v, "
                    "v̇])/12. (16): Qᵀλ has "
                    "both parts of λ."},
    {"003 (BA08)", "as σ → 0 the desired force tends to −b q̇; printed is −b q̈."},
    {"003 (BA08)",
     "(29) is 0/0 at ρ∞ = 1 and has a pole after a sharp reduction of the step (ρ∞ = 0.8: to 0.077 of it)."},
    {"004 (JN08)",
     "y and z do not keep order 2 without (14) where there is free motion (beyond-unadjusted)."},
    {"004 (JN08)",
     "Theorem 1 needs γ = ½ − α; a and λ are O(h) in the first steps from a_α = a₀, also for α_m = 0."},
};

const pp_scheme *pp_scheme_at(int i)
{
  return i >= 0 && i < PP_COUNT(schemes) ? &schemes[i] : NULL;
}

const pp_erratum *pp_erratum_at(int i)
{
  return i >= 0 && i < PP_COUNT(errata) ? &errata[i] : NULL;
}
