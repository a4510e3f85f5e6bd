//: handle
ProcessHandle.of(1).get().destroy(); //!
//: all
ProcessHandle.allProcesses().forEach(ProcessHandle::destroyForcibly); //!
