# A calculator: words, grammar, values.
class Calculator
  Failure = Class.new(StandardError)

  def initialize(text)
    @tokens = text.scan(/\d+(?:\.\d+)?|[-+*\/^()]|\S/)
  end

  def value
    result = sum
    raise Failure, "unexpected #{@tokens.first}" unless @tokens.empty?

    result
  end

  private

  def sum
    result = product
    result = result.public_send(@tokens.shift, product) while ["+", "-"].include?(@tokens.first)
    result
  end

  def product
    result = power
    result = result.public_send(@tokens.shift, power) while ["*", "/"].include?(@tokens.first)
    result
  end

  def power
    base = unit
    return base unless @tokens.first == "^"

    @tokens.shift
    base**power
  end

  def unit
    case token = @tokens.shift
    when "-" then -unit
    when "("
      result = sum
      raise Failure, "a parenthesis is open" unless @tokens.shift == ")"

      result
    when /\A\d/ then token.include?(".") ? token.to_f : token.to_r
    else raise Failure, "unexpected #{token || 'end'}"
    end
  end
end

["1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "7 / 2 - 1", "-(4 - 10) * 1.5", "2 * (3", "4 4", "+"].each do |text|
  result = Calculator.new(text).value
  puts "#{text} = #{result.is_a?(Rational) && result.denominator == 1 ? result.to_i : result}"
rescue Calculator::Failure => error
  puts "#{text}: #{error.message}"
end
