#!version:1.0.0.1
overwrite_mode = 0
include:config "001565aabb06.cfg"
