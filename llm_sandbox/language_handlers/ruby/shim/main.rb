# frozen_string_literal: true

module LLMSandbox
  # Top-level environment of the code, as in a program called main.rb.
  module Main
    FILE = Failures::FILE
    ENDED = /^__END__\r?\n/.freeze

    module_function

    def prepare
      $PROGRAM_NAME = FILE
      $stdout.sync = true
      main = TOPLEVEL_BINDING.receiver
      # Of files, but this one is none.
      main.define_singleton_method(:require_relative) do |path|
        place = caller_locations(1, 1).first&.absolute_path || File.join(Dir.pwd, FILE)
        require File.expand_path(path, File.dirname(place))
      end
      main.define_singleton_method(:__dir__) do
        place = caller_locations(1, 1).first&.absolute_path
        place ? File.dirname(place) : Dir.pwd
      end
    end

    def evaluate(code)
      data(code) if code.match?(ENDED)
      TOPLEVEL_BINDING.eval(code, FILE, 1)
    end

    # The text after the end of a program.
    def data(code)
      require "stringio"
      Object.send(:remove_const, :DATA) if Object.const_defined?(:DATA)
      Object.const_set(:DATA, StringIO.new(code.split(ENDED, 2).last))
    end

    # Set a variable of the environment, and what was made of it at the start.
    def set(name, value)
      before = ENV.fetch(name, "")
      ENV[name] = value
      case name
      when "RUBYLIB"
        $LOAD_PATH.unshift(*(value.to_s.split(":") - before.split(":")).reject(&:empty?))
      when "GEM_PATH", "GEM_HOME"
        return unless defined?(Gem)

        Gem.clear_paths
        Gem::Specification.reset
      end
    end
  end
end
