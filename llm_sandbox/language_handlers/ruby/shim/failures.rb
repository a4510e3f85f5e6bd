# frozen_string_literal: true

module LLMSandbox
  # Errors of the code, as fields of a message, without frames of the shim.
  module Failures
    FILE = "main.rb"
    MOST_FRAMES = 60
    OURS = File.join(__dir__, "")
    PLACE = /\A(?<file>.+?):(?<line>\d+)(?::in [`'](?<function>.*)')?\z/m.freeze
    SYNTAX = /\A#{Regexp.escape(FILE)}:(\d+): ?(.*)/m.freeze

    module_function

    def fields(error, code)
      return syntax(error) if error.is_a?(SyntaxError) && own_syntax?(error)

      trim(error)
      trace = error.backtrace || []
      source = code.lines
      # Of a recursion without end there are thousands.
      half = MOST_FRAMES / 2
      shown = trace.size > MOST_FRAMES ? trace.first(half) + trace.last(half) : trace
      frames = shown.map { |text| frame(text, source) }.compact
      line = frames.find { |found| found[:file] == FILE }&.fetch(:line)
      {
        "name" => error.class.to_s, "value" => message(error), "traceback" => full(error),
        "line" => line, "type" => "exception", "frames" => json(frames.reverse)
      }.compact
    end

    def syntax(error)
      line, text = message(error).match(SYNTAX).captures
      {
        "name" => error.class.to_s, "value" => cause(text).lines.first.to_s.strip, "line" => line,
        "type" => "syntax", "traceback" => "#{message(error)} (#{error.class})"
      }
    end

    # Since Ruby 3.4 the words stand below the line that they are about.
    def cause(text)
      return text unless text.start_with?("syntax error found", "syntax errors found")

      marked = text.lines.find { |line| line.match?(/\|\s+\^/) }
      marked ? marked.sub(/.*\^~*\s*/, "") : text
    end

    # Code that the code itself evaluates or loads may fail to parse as well.
    def own_syntax?(error)
      inside = (error.backtrace || []).any? { |text| text.start_with?("#{FILE}:") }
      !inside && message(error).match?(SYNTAX)
    end

    def message(error)
      error.message.to_s.dup.force_encoding(Encoding::UTF_8).scrub
    rescue Exception # rubocop:disable Lint/RescueException -- the code's own method
      ""
    end

    # Drop the frames that are ours from an error and its causes.
    def trim(error)
      8.times do
        break unless error

        trace = error.backtrace&.reject { |text| text.start_with?(OURS, "<internal:") }
        # Of an error without frames Ruby says where it is now.
        error.set_backtrace(trace.empty? ? [FILE] : trace) if trace && !error.frozen?
        error = error.cause
      end
    end

    def full(error)
      text = error.full_message(highlight: false, order: :top)
      lines = text.dup.force_encoding(Encoding::UTF_8).scrub.chomp.lines
      return lines.join if lines.size <= 2 * MOST_FRAMES

      left_out = "\t ... #{lines.size - (2 * MOST_FRAMES)} lines ...\n"
      [*lines.first(MOST_FRAMES), left_out, *lines.last(MOST_FRAMES)].join
    rescue Exception # rubocop:disable Lint/RescueException -- the code's own methods
      "#{error.class}: #{message(error)}"
    end

    def frame(text, source)
      found = PLACE.match(text) or return nil
      line = found[:line].to_i
      words = found[:file] == FILE ? source[line - 1].to_s.strip : ""
      { file: found[:file], line: line, function: found[:function].to_s, source: words }
    end

    def json(value)
      require "json"
      JSON.generate(value)
    end
  end
end
