// expects:
// files: flag.svg
require("fs").writeFileSync("flag.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><rect width="90" height="30" fill="red"/><rect y="30" width="90" height="30" fill="blue"/></svg>');
