#!version:1.0.0.1
overwrite_mode = 0
include:config "805ec0aabb08.cfg"
