import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestModule } from 'vitest/node'
import { functionRows } from '../../../infra/definitions/functions.ts'
import {
  codeStatements,
  formatPermission,
  permissionsIn,
} from '../../../infra/definitions/iam-statements.ts'

/** Permissions that no flow test uses. */

export type Use = { name: string; permission: string }

const everyPermission = (): Use[] =>
  functionRows.flatMap(({ name }) =>
    permissionsIn(codeStatements(name)).map((permission) => ({
      name,
      permission: formatPermission(permission),
    })),
  )

const line = ({ name, permission }: Use): string => `${name}: ${permission}`

const FLOWS = 'test/flows'

/** Whether all flow tests ran: a part of them cannot prove that a permission is unused. */
const isWhole = (modules: readonly TestModule[]): boolean => {
  const ran = new Set(
    modules
      .filter((module) => module.state() === 'passed')
      .map(({ moduleId, project }) => relative(project.config.root, moduleId)),
  )
  const isNarrowed = modules.some(({ project }) => project.config.testNamePattern)
  const flows = readdirSync(FLOWS).filter((file) => file.endsWith('.test.ts'))
  return !isNarrowed && flows.every((file) => ran.has(join(FLOWS, file)))
}

/** Returns the unused permissions of a run of all flow tests, else none. */
export const unusedIn = (modules: readonly TestModule[]): string[] => {
  const folder = modules[0]?.project.getProvidedContext().usesFolder
  if (!folder || !isWhole(modules)) return []
  const used = readdirSync(folder).flatMap(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Use[],
  )
  const known = new Set(used.map(line))
  return everyPermission()
    .map(line)
    .filter((row) => !known.has(row))
}
