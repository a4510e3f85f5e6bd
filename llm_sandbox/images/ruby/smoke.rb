#!/usr/bin/env ruby
# frozen_string_literal: true

# Fails unless the image holds what a Ruby session needs; runs inside the finished image.

require 'bigdecimal'
require 'csv'
require 'digest'
require 'json'
require 'openssl'
require 'ripper'
require 'set'
require 'stringio'
require 'time'
require 'yaml'
require 'zlib'

def check(complaint)
  abort complaint unless yield
end

check('JSON') { JSON.parse('{"a": [1, 2]}')['a'].sum == 3 }
check('CSV') { CSV.parse("name,value\nx,42\n", headers: true).first['value'] == '42' }
check('YAML') { YAML.safe_load("- 1\n- 2\n") == [1, 2] }
check('the encoding is not UTF-8') { Encoding.default_external == Encoding::UTF_8 }
check('zlib') { Zlib.inflate(Zlib.deflate('x' * 100)).size == 100 }
check('threads') { 4.times.map { |n| Thread.new { n * n } }.sum(&:value) == 14 }
check('gem is not there') { system('gem', '--version', out: File::NULL) }
puts "ruby  #{RUBY_VERSION}"
