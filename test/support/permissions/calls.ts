import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestModule, TestSpecification } from 'vitest/node'
import type { FunctionName } from '../../../infra/definitions/function-permissions.ts'
import type { Permission } from '../../../infra/definitions/iam-statements.ts'

/** An AWS call of a function; it represents all calls with the same permissions and similar keys. */
export type Call = {
  name: FunctionName
  /** SDK command, such as `TransactWriteCommand`. */
  command: string
  checks: { required: Permission; allowedBy: string }[]
}

type TestFile = Pick<TestSpecification, 'moduleId' | 'project'>

const FLOWS = 'test/flows'

/** Whether a run has all flow tests: a part of them cannot prove that a permission is unused. */
export const hasAllFlows = (files: readonly TestFile[]): boolean => {
  const paths = new Set(
    files.map(({ moduleId, project }) => relative(project.config.root, moduleId)),
  )
  const isNarrowed = files.some(({ project }) => project.config.testNamePattern)
  const flows = readdirSync(FLOWS).filter((file) => file.endsWith('.test.ts'))
  return !isNarrowed && flows.every((file) => paths.has(join(FLOWS, file)))
}

/** Returns the calls that a run of all flow tests recorded; undefined for other runs. */
export const callsIn = (modules: readonly TestModule[]): Call[] | undefined => {
  const passed = modules.filter((module) => module.state() === 'passed')
  const folders = modules.map(({ project }) => project.getProvidedContext().callsFolder)
  const folder = folders.find((name) => name !== undefined)
  if (!folder || !hasAllFlows(passed)) return undefined
  const files = readdirSync(folder).map(
    (file): Record<string, Call> => JSON.parse(readFileSync(join(folder, file), 'utf8')),
  )
  return Object.values(Object.assign({}, ...files))
}
