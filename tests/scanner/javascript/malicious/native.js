//: binding
process.binding('spawn_sync'); //!
//: dlopen
process.dlopen(module, './x.node'); //!
//: WebAssembly
WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109])); //!
