/* A controller of a user's own: force −(kp p + kd v) − cubic p³ + filter, the filter a state. */
enum { P, V, N_IN };
static const double kp = 40, kd = 3, cubic = 5, filter_time = 0.2;

int law(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  (void)user;
  (void)t;
  xdot[0] = (u[V] - x[0]) / filter_time;
  y[0] = -(kp * u[P] + kd * u[V]) - cubic * u[P] * u[P] * u[P] + x[0];
  return 0;
}

/* Rows xdot, y; columns p, v, x. */
int law_jacobian(void *user, double t, const double *u, const double *x, double *J)
{
  (void)user;
  (void)t;
  (void)x;
  J[1] = 1 / filter_time;
  J[2] = -1 / filter_time;
  J[3] = -kp - 3 * cubic * u[P] * u[P];
  J[4] = -kd;
  J[5] = 1;
  return 0;
}

/* Has no value from half a second on. */
int breaks(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  return t > 0.5 ? 1 : law(user, t, u, x, xdot, y);
}

int gives_up(void *user, double t, const double *u, const double *x, double *xdot, double *y)
{
  return t > 0.5 ? -1 : law(user, t, u, x, xdot, y);
}
