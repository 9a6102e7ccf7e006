# The layers of galpha, lowest first, and what each may include besides itself. Stated once: the build makes one
# library per layer from this list, and check_layers.cmake enforces it.
set(galpha_layers base lin lie expr core control mbs model result study app)

set(galpha_below_base)
set(galpha_below_lin base)
set(galpha_below_lie base)
set(galpha_below_expr base)
set(galpha_below_core base lin lie expr)
set(galpha_below_control ${galpha_below_core} core)
set(galpha_below_mbs ${galpha_below_control} control)
set(galpha_below_model ${galpha_below_mbs} mbs)
set(galpha_below_result ${galpha_below_mbs} mbs)
set(galpha_below_study ${galpha_below_model} model result)
set(galpha_below_app ${galpha_below_study} study)
