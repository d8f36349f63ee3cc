dofile('load/updates.lua')
dofile('load/of-instances.lua')
