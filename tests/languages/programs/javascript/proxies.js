// Proxies, reflection and tagged templates: a record that checks itself, and safe HTML.
const checked = (target, rules) =>
  new Proxy(target, {
    set(object, key, value, receiver) {
      if (!(key in rules)) throw new TypeError(`no field ${String(key)}`);
      if (!rules[key](value)) throw new RangeError(`${String(key)} cannot be ${JSON.stringify(value)}`);
      return Reflect.set(object, key, value, receiver);
    },
    has: (object, key) => !String(key).startsWith("_") && Reflect.has(object, key),
  });

const person = checked({ _id: 7 }, { name: (x) => typeof x === "string", age: (x) => x >= 0 });
person.name = "Ada";
for (const attempt of [() => (person.age = -1), () => (person.shoe = 42), () => (person.age = 36)]) {
  try {
    console.log("set", attempt());
  } catch (error) {
    console.log(error.constructor.name, error.message);
  }
}
console.log("_id" in person, "name" in person, JSON.stringify(person));

const html = (parts, ...values) =>
  String.raw({ raw: parts }, ...values.map((value) => String(value).replace(/[<&>]/g, (c) => `&#${c.charCodeAt(0)};`)));
console.log(html`<b>${"<script>"}</b> ${1 < 2} // no comment: ${`nested ${"`"}`}`);
