dofile('load/orders.lua')
dofile('load/of-instances.lua')
