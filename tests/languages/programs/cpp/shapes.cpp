// Virtual functions, and who is destroyed when.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

class Shape {
    std::string name;

  public:
    explicit Shape(std::string name) : name(std::move(name)) {}
    virtual ~Shape() { std::printf("%s is gone\n", name.c_str()); }
    virtual double area() const = 0;
    void print() const { std::printf("%s has an area of %.2f\n", name.c_str(), area()); }
};

class Circle : public Shape {
    double radius;

  public:
    explicit Circle(double radius) : Shape("circle"), radius(radius) {}
    double area() const override { return 3.141592653589793 * radius * radius; }
};

class Box : public Shape {
    double width, height;

  public:
    Box(double width, double height) : Shape("box"), width(width), height(height) {}
    double area() const override { return width * height; }
};

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Circle>(1.5));
    shapes.push_back(std::make_unique<Box>(2, 3.25));
    for (const auto &shape : shapes) shape->print();
    shapes.erase(shapes.begin());
    std::puts("one is left");
}
