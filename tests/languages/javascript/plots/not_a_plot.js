// expects:
const text = "a text that names <svg> and is none";
display(text);
display({ width: 3, height: 4 });
display.html("<b>bold</b>");
[1, 2, 3]
