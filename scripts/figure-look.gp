# The look of all pictures of docs/img, as that of galpha plot: colours, grid, signs. Loaded by the scripts beside this file.
set encoding utf8
set minussign
set grid
set linetype 1 linecolor rgb '#0060ad' linewidth 2
set linetype 2 linecolor rgb '#d55e00' linewidth 2
set linetype 3 linecolor rgb '#009e73' linewidth 2
set linetype 4 linecolor rgb '#9400d3' linewidth 2
set linetype 5 linecolor rgb '#a6761d' linewidth 2
set linetype 6 linecolor rgb '#e7298a' linewidth 2
set linetype 7 linecolor rgb '#56b4e9' linewidth 2
set linetype 8 linecolor rgb '#000000' linewidth 2
set linetype 9 linecolor rgb '#e69f00' linewidth 2
set linetype 10 linecolor rgb '#7f7f7f' linewidth 2
set linetype cycle 10
