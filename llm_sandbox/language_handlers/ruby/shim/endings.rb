# frozen_string_literal: true

module LLMSandbox
  # `at_exit` blocks of the code, and of libraries that do their work in them, run at the end of the
  # run that registered them. Those of other libraries run when the process ends.
  module Endings
    FILES = %r{\A#{Regexp.escape(Failures::FILE)}:|/minitest[./]|/test/unit[./]}.freeze

    @blocks = []
    @process = Process.pid

    class << self
      def begin
        @blocks.clear
      end

      # Returns whether a block runs at the end of the run.
      def take(block, place)
        return false if block.nil? || Process.pid != @process || !FILES.match?(place)

        @blocks.push(block)
        true
      end

      # Run the blocks, last first; returns how the run ended with them.
      def finish(ending)
        while (block = @blocks.pop)
          last = yield(block)
          ending = last if last && !(last.is_a?(SystemExit) && last.success? && ending.nil?)
        end
        ending
      end

      def prepare
        original = Kernel.instance_method(:at_exit)
        method = lambda do |&block|
          Endings.take(block, caller(1, 1).first.to_s) ? block : original.bind_call(self, &block)
        end
        Kernel.define_method(:at_exit, &method)
        Kernel.send(:private, :at_exit)
        Kernel.define_singleton_method(:at_exit, &method)
      end
    end
  end
end
