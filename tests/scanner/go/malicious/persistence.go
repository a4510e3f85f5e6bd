//: start file
package main

import (
	"os"
)

func main() {
	os.OpenFile("/root/.bashrc", os.O_APPEND, 0) //!
}
//: cron
package main

import (
	"os/exec"
)

func main() {
	exec.Command("crontab", "x").Run() //!
}
