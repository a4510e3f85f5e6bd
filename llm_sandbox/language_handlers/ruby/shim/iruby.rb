# frozen_string_literal: true

# The display functions of IRuby, the Jupyter kernel of Ruby.
module IRuby
  class << self
    # Callable that displays a MIME bundle: a hash of MIME type to text or bytes.
    attr_accessor :shows
  end

  module_function

  # Show a value in all its forms; with a MIME type, the text or bytes that it is.
  def display(value, mime: nil, format: nil, **)
    mime = mime || format
    IRuby.shows.call(mime ? { mime.to_s => value.to_s } : LLMSandbox::Forms.of(value))
    nil
  end

  # Show an array of hashes as a table.
  def table(rows, **)
    display(rows)
  end

  { html: "text/html", svg: "image/svg+xml", png: "image/png", jpeg: "image/jpeg", gif: "image/gif",
    markdown: "text/markdown", latex: "text/latex" }.each do |name, mime|
    define_method(name) { |data| display(data.to_s, mime: mime) }
    module_function name
  end
end
