import type { Reporter, TestModule } from 'vitest/node'
import { unusedIn } from './permissions/unused.ts'

/** Ends a run with its counts on one line; an unused permission counts as failed. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const unused = unusedIn(modules)
    if (unused.length > 0) {
      const lines = unused.map((permission) => `  ${permission}\n`).join('')
      process.stdout.write(
        `\nAllowed by infra/definitions/function-permissions.ts, and used in no flow test:\n${lines}`,
      )
      process.exitCode = 1
    }
    const failed = count('failed') + broken + unused.length
    process.stdout.write(`\n${count('passed')} passed, ${failed} failed\n`)
  }
}
