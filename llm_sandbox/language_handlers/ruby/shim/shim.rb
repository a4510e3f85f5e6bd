# frozen_string_literal: true

# Ruby shim: runs cells in one persistent process; see guest/wrapper.py for the protocol.
require_relative "channel"
require_relative "failures"
require_relative "endings"
require_relative "forms"
require_relative "iruby"
require_relative "main"
require_relative "tables"

module LLMSandbox
  # One session.
  class Shim
    def initialize
      @channel = Channel.new(3, 4)
      @process = Process.pid
      @talk = Mutex.new
      @running = @talking = @interrupted = false
      IRuby.shows = ->(forms) { show("display", forms) }
      Signal.trap("INT") { interrupt }
    end

    def serve
      @channel.say("ready")
      loop do
        message = @channel.hear or break
        case message["kind"]
        when "run" then run(message["code"].force_encoding(Encoding::UTF_8))
        when "set" then Main.set(message["name"], message["value"])
        end
      rescue Interrupt, StandardError
        # Of a thread, or too late.
        next
      end
    end

    private

    # The handler of the signal; it comes at any time.
    def interrupt
      if Process.pid != @process
        raise Interrupt, ""
      elsif @talking
        @interrupted = true
      elsif @running
        raise Interrupt, ""
      end
    end

    def run(code)
      @interrupted = false
      Forms.began = Time.now
      Endings.begin
      ending = evaluate(code)
      ending = Endings.finish(ending) { |block| guarded { block.call } }
      leave(ending, code) if Process.pid != @process
      report(ending, code)
    end

    def report(ending, code)
      flush
      case ending
      when nil then @channel.say("done", "status" => "ok")
      when SystemExit then @channel.say("done", "status" => "ok", "exit" => ending.status & 255)
      else
        tell("error", Failures.fields(ending, code))
        @channel.say("done", "status" => "error")
      end
    end

    # Run code and show its value; returns how it ended, if not well.
    def evaluate(code)
      guarded do
        value = Main.evaluate(code)
        show("result", Forms.of(value)) unless NilClass === value || code.rstrip.end_with?(";")
      end
    end

    def guarded
      @running = true
      yield
      @running = false
      nil
    rescue LocalJumpError => error
      @running = false
      # A `return` outside of methods ends a program.
      error.reason == :return ? nil : error
    rescue Exception => error # rubocop:disable Lint/RescueException -- it is the code's
      @running = false
      error
    end

    # A process that the code made by `fork` ends where the code does.
    def leave(ending, code)
      status = 0
      if ending.is_a?(SystemExit)
        status = ending.status
      elsif ending
        warn Failures.fields(ending, code)["traceback"]
        status = 1
      end
      exit!(status) if [$stdout, $stderr].each(&:flush)
    end

    def show(kind, forms)
      return if Process.pid != @process || !@running

      tell(kind, forms.transform_keys { |mime| "data:#{mime}" })
    end

    # Say something between what was printed before and after, and wait until it was taken.
    def tell(kind, fields)
      @talk.synchronize do
        @talking = true
        flush
        @channel.say(kind, fields)
        # Other threads leave what they would wait for to this one, which knows what comes.
        @channel.hear if Thread.current == Thread.main
      ensure
        @talking = false
      end
      return unless @interrupted && @running && Thread.current == Thread.main

      @interrupted = false
      raise Interrupt, ""
    end

    def flush
      [$stdout, $stderr, STDOUT, STDERR].uniq.each { |stream| stream.flush unless stream.closed? }
    rescue IOError, SystemCallError, NoMethodError
      nil # what the code made of them
    end
  end
end

LLMSandbox::Main.prepare
LLMSandbox::Endings.prepare
LLMSandbox::Shim.new.serve
exit!(0)
