//: stack
import java.util.ArrayList;
class Stack<T> { private final ArrayList<T> xs = new ArrayList<>(); void push(T x) { xs.add(x); } T pop() { return xs.remove(xs.size() - 1); } boolean isEmpty() { return xs.isEmpty(); } }
//: shapes
sealed interface Shape permits Circle, Square { double area(); }
record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
record Square(double s) implements Shape { public double area() { return s * s; } }
//: enum
enum Op { ADD("+") { int apply(int a, int b) { return a + b; } }, SUB("-") { int apply(int a, int b) { return a - b; } }; final String sign; Op(String s) { sign = s; } abstract int apply(int a, int b); }
//: account
class Account { private long cents; synchronized void deposit(long c) { if (c <= 0) throw new IllegalArgumentException("positive only"); cents += c; } long balance() { return cents; } }
//: builder
class Pizza { private final StringBuilder parts = new StringBuilder(); Pizza with(String s) { parts.append(s).append(' '); return this; } String build() { return parts.toString().trim(); } }
//: observer
import java.util.*;
import java.util.function.Consumer;
class Bus { private final Map<String, List<Consumer<Object>>> on = new HashMap<>(); void on(String n, Consumer<Object> f) { on.computeIfAbsent(n, k -> new ArrayList<>()).add(f); } void emit(String n, Object o) { on.getOrDefault(n, List.of()).forEach(f -> f.accept(o)); } }
//: linked list
class Node<T> { T value; Node<T> next; Node(T v, Node<T> n) { value = v; next = n; } int size() { return next == null ? 1 : 1 + next.size(); } }
//: comparable
class Version implements Comparable<Version> { final int a, b; Version(int a, int b) { this.a = a; this.b = b; } @Override public int compareTo(Version o) { return a != o.a ? Integer.compare(a, o.a) : Integer.compare(b, o.b); } @Override public String toString() { return getClass().getSimpleName() + a + "." + b; } }
//: generics
class Pair<A, B> { final A a; final B b; Pair(A a, B b) { this.a = a; this.b = b; } <C> Pair<C, B> map(java.util.function.Function<A, C> f) { return new Pair<>(f.apply(a), b); } }
//: singleton
class Config { private static final Config ONE = new Config(); static Config get() { return ONE; } private Config() { } String name() { return "x"; } }
//: iterator
import java.util.Iterator;
class Range implements Iterable<Integer> { final int a, b; Range(int a, int b) { this.a = a; this.b = b; } public Iterator<Integer> iterator() { return new Iterator<>() { int i = a; public boolean hasNext() { return i < b; } public Integer next() { return i++; } }; } }
//: threads
class Count { int n; void run() throws InterruptedException { Thread t = new Thread(() -> n++); t.start(); t.join(); System.out.println(n); } }
