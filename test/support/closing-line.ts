import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with its count alone on a line, for whoever reads it without eyes. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    process.stdout.write(`\n${count('passed')} passed, ${count('failed') + broken} failed\n`)
  }
}
