// expects: image/svg+xml image/svg+xml
for (const colour of ["teal", "tomato"]) {
  display.svg(`<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><circle cx="45" cy="45" r="40" fill="${colour}"/><text x="45" y="50" text-anchor="middle">${colour}</text></svg>`);
}
