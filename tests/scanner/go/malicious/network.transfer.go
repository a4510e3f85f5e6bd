//: mail
package main

import (
	"net/smtp"
)

func main() {
	smtp.SendMail("h:25", nil, "a", nil, nil) //!
}
