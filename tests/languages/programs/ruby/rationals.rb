# Exact numbers.
harmonic = (1..10).sum { |number| Rational(1, number) }
puts harmonic, harmonic.to_f.round(6)
puts 0.1r + 0.2r == 0.3r, 0.1 + 0.2 == 0.3
puts Complex(1, 2) * Complex(3, -1)
puts 2**100, (2**100).digits.sum, 100.downto(98).reduce(:lcm)
puts 255.to_s(2), "ff".to_i(16), 1234567.89.to_s.reverse.scan(/\d{1,3}/).size
puts 17.pow(100, 13), -7 / 2, -7 % 3, 7.divmod(-2).inspect
