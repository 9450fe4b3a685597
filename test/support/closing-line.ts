import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { callsIn, hasAllFlows } from './permissions/calls.ts'
import { hasSimulator, startSimulation, unusedIn } from './permissions/findings.ts'

/** Ends a run with its counts on one line; a finding about permissions counts as failed. */
export default class ClosingLine implements Reporter {
  #simulation: ReturnType<typeof startSimulation> | undefined

  onTestRunStart(files: readonly TestSpecification[]): void {
    if (hasSimulator() && hasAllFlows(files)) this.#simulation = startSimulation()
  }

  async onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.errors().length > 0).length + errors.length
    const calls = callsIn(modules)
    const denied = calls ? await this.#simulation?.deniedIn(calls) : this.#simulation?.stop()
    const findings = calls ? [...unusedIn(calls), ...(denied ?? [])] : []
    if (findings.length > 0) {
      process.stdout.write(`\n${findings.map((finding) => `  ${finding}\n`).join('')}`)
      process.exitCode = 1
    }
    if (calls && !hasSimulator()) {
      process.stdout.write('\n  The calls were not simulated against the policies: npm run tools\n')
    }
    const failed = count('failed') + broken + findings.length
    process.stdout.write(`\n${count('passed')} passed, ${failed} failed\n`)
  }
}
