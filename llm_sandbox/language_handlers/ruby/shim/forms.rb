# frozen_string_literal: true

module LLMSandbox
  # MIME bundles of values: MIME type to text or bytes.
  module Forms
    TABLE = "application/vnd.llm-sandbox.table+json"
    LONGEST = 1 << 20
    WIDTH = 80
    SVG = /\A\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/.freeze
    PNG = "\x89PNG\r\n\x1A\n".b.freeze
    NAMED = {
      to_html: "text/html", to_svg: "image/svg+xml", to_markdown: "text/markdown",
      to_latex: "text/latex"
    }.freeze

    class << self
      # Start time of the run; nil in a whole program.
      attr_accessor :began
    end

    module_function

    # Everything that a value can be shown as; text/plain always.
    def of(value)
      forms = special(value)
      forms = { "text/plain" => text(value) }.merge(forms) unless forms.key?("text/plain")
      forms
    end

    # The value as irb prints it.
    def text(value)
      line = value.inspect.to_s
      parted = value.is_a?(Enumerable) || line.start_with?("#<")
      if parted && line.bytesize.between?(WIDTH + 1, LONGEST)
        require "pp"
        line = value.pretty_inspect.chomp
      end
      line.bytesize > LONGEST ? "#{line.byteslice(0, LONGEST).scrub('')}..." : line
    rescue NoMethodError
      # A BasicObject has no methods at all.
      "#<#{Object.instance_method(:class).bind_call(value)}>"
    end

    def special(value)
      # A BasicObject answers nothing.
      return {} unless Object === value

      picture(value) || told(value) || table(value) || named(value)
    rescue StandardError
      {} # what libraries offer may need what is not there
    end

    # Returns the bundle that a library gives IRuby: [MIME, data], or a bundle and its metadata.
    def told(value)
      if value.respond_to?(:to_iruby_mimebundle)
        value.to_iruby_mimebundle(include: [])&.first&.transform_keys(&:to_s)
      elsif value.respond_to?(:to_iruby)
        mime, data = value.to_iruby
        mime && { mime.to_s => data.to_s }
      end
    end

    def named(value)
      NAMED.each_with_object({}) do |(method, mime), forms|
        next unless value.respond_to?(method) && value.method(method).arity <= 0

        data = value.public_send(method)
        forms[mime] = data if data.is_a?(String)
      end
    end

    def picture(value)
      if is?(value, "Gruff::Base")
        { "image/png" => quietly { value.to_blob("PNG") }, "text/plain" => "#<#{value.class}>" }
      elsif is?(value, "Magick::Image")
        text = { "text/plain" => "#<image #{value.columns}x#{value.rows}>" }
        written?(value.filename) ? text : { "image/png" => quietly { png(value) } }.merge(text)
      elsif is?(value, "ChunkyPNG::Image")
        { "image/png" => value.to_blob, "text/plain" => "#<image #{value.width}x#{value.height}>" }
      elsif value.is_a?(String)
        string(value)
      end
    end

    def string(text)
      if svg?(text)
        { "image/svg+xml" => text }
      elsif text.b.start_with?(PNG)
        { "image/png" => text, "text/plain" => "#<PNG, #{text.bytesize} bytes>" }
      else
        {}
      end
    end

    def png(image)
      image.to_blob { |options| (options || image).format = "PNG" }
    end

    # Returns whether a file was written by this run, which displays it already.
    def written?(path)
      Forms.began && !path.to_s.empty? && File.file?(path) && File.mtime(path) >= Forms.began - 0.02
    end

    # Returns whether a value is of a class that may not be loaded.
    def is?(value, name)
      Object.const_defined?(name) && value.is_a?(Object.const_get(name))
    end

    # Old versions of libraries warn of how they call each other.
    def quietly
      verbose, $VERBOSE = $VERBOSE, nil
      yield
    ensure
      $VERBOSE = verbose
    end

    def svg?(text)
      text.valid_encoding? && text.match?(SVG) && text.rstrip.end_with?("</svg>")
    end

    def table(value)
      record = Tables.record(value) or return nil
      { TABLE => record, "text/html" => Tables.html(value) }
    end
  end
end
