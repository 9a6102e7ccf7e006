/* Quantiles of distributions that intervals need. */
#ifndef GALPHA_STUDY_STATISTICS_H
#define GALPHA_STUDY_STATISTICS_H

/* t with P(|T| <= t) = confidence, Student's distribution with n degrees of freedom. */
double ga__student(double confidence, double n);
/* x with P(X <= x) = p, the chi-square distribution with n degrees of freedom, to about three digits. */
double ga__chi_square(double p, double n);

#endif
