-- Sends the request of the command line again and again.
dofile('load/report.lua')
