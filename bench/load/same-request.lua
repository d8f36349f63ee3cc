-- Repeats the request of the command line.
dofile('load/report.lua')
