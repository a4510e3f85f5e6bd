# Methods that are made, missing and refined.
module Validated
  def self.included(base) = base.extend(ClassMethods)

  module ClassMethods
    def rules = @rules ||= {}

    def validate(name, &rule)
      rules[name] = rule
      attr_reader name

      define_method("#{name}=") do |value|
        raise ArgumentError, "#{name} cannot be #{value.inspect}" unless rule.call(value)

        instance_variable_set("@#{name}", value)
      end
    end
  end
end

class Person
  include Validated
  validate(:age) { |age| age.is_a?(Integer) && age >= 0 }
  validate(:name) { |name| !name.empty? }
end

person = Person.new
person.age = 36
person.name = "Ada"
begin
  person.age = -1
rescue ArgumentError => error
  puts error.message
end
puts person.age, Person.rules.keys.inspect

class Recorder < BasicObject
  def initialize = @calls = []
  def method_missing(name, *values) = (@calls << [name, *values]) && self
  def respond_to_missing?(*) = true
  def calls! = @calls
end

puts Recorder.new.open("x").write(1, 2).close.calls!.inspect
