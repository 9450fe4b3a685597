import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { breakingChanges, unnamedChanges } from '../sdk/openapi/breaking-changes.ts'
import { readArguments } from './terminal/arguments.ts'

/** `npm run -s openapi:compare -- BASE.json`: refuses breaking changes that the change log does not name. */

const { positionals, refuse } = await readArguments({
  name: 'openapi:compare',
  form: 'BASE.json',
  summary:
    'Compares docs/openapi.json with an earlier description. Prints each breaking change that no line\n' +
    '`BREAKING: CHANGE` of CHANGELOG.md names, and exits with 1 if there is one.',
  options: {},
})

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return refuse(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const descriptionIn = (file: string) => {
  const text = read(file)
  try {
    const value = JSON.parse(text)
    if (typeof value?.openapi === 'string') return value
  } catch {
    // Said below.
  }
  return refuse(`${file} is no OpenAPI description in JSON`)
}

const [base, ...others] = positionals
if (!base || others.length > 0) refuse()
const ours = (file: string): string => join(import.meta.dirname, '..', file)
const changes = breakingChanges(descriptionIn(base ?? ''), descriptionIn(ours('docs/openapi.json')))
const unnamed = unnamedChanges(changes, read(ours('CHANGELOG.md')))
for (const change of unnamed) process.stdout.write(`${change}\n`)
process.exitCode = unnamed.length > 0 ? 1 : 0
