import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { readArguments, unknownWord } from '../../commands/terminal/arguments.ts'
import { newProgress } from '../../commands/terminal/progress.ts'
import { type Measured, type Options, section, withVerdicts } from './figures.ts'

/**
 * `npm run bench -- [--short] [--json] [--only PART ...]`: measures the parts in turn and prints
 * their figures; --json also prints a part's figures as one line of JSON. A run of all parts, without
 * --short, updates `figures.md` and the verdicts in docs/benchmarks.md.
 */

/** The file of each part in `measured/`. */
const files: Record<string, string> = {
  charge: 'requests',
  status: 'requests',
  'own-time': 'requests',
  cost: 'cost',
  growth: 'growth',
  inputs: 'inputs',
  webhooks: 'webhooks',
  settlement: 'settlement',
  'sandbox-start': 'sandbox-start',
}
const ROUNDS = 5
const FIGURES = join(import.meta.dirname, 'figures.md')
const PAGE = join(import.meta.dirname, '../../docs/benchmarks.md')

const { values, refuse } = await readArguments({
  name: 'bench',
  form: '[--short] [--json] [--only PART]...',
  summary: 'Measures the service against its base (docs/benchmarks.md).',
  options: {
    short: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})
const { short, only, json } = values
const options: Options = { rounds: short ? 1 : ROUNDS, short }

const [unknown] = (only ?? []).filter((name) => !(name in files))
if (unknown !== undefined) refuse(await unknownWord('part', unknown, Object.keys(files)))
const parts = Object.keys(files).filter((part) => only?.includes(part) ?? true)

const measurePart = async (part: string): Promise<Measured> => {
  const args = [files[part] ?? '', part, JSON.stringify(options)]
  const child = fork(join(import.meta.dirname, 'part.ts'), args, {
    execArgv: ['--expose-gc', '--disable-warning=DEP0040'],
    serialization: 'advanced',
  })
  const exited = once(child, 'exit')
  const sent = once(child, 'message').then(([message]) => message as Measured | undefined)
  const result = await Promise.race([sent, exited.then(() => undefined)])
  if (!result) throw new Error(`${part} was not measured`)
  await exited
  return result
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()

const isChanged =
  git('status', '--porcelain', '--', 'functions', 'shared', 'infra', 'proofs/bench') !== ''
const environment = [
  `${availableParallelism()} processors (${process.arch}), Node ${process.versions.node}`,
  'DynamoDB Local on the same processors',
  `commit ${git('rev-parse', '--short', 'HEAD')}${isChanged ? ' with changes' : ''}`,
  new Date().toISOString().slice(0, 10),
].join('; ')

/** Replaces the section of a page that has the same heading. */
const withSection = (page: string, text: string): string => {
  const [heading] = text.split('\n', 1)
  return page.replace(new RegExp(`^${heading}\n(?:.|\n)*?(?=^## )`, 'm'), () => `${text}\n`)
}

process.stdout.write(`${environment}\n`)
const sections: string[] = []
const tick = newProgress('parts', parts.length)
for (const part of parts) {
  const measured = await measurePart(part)
  const text = section(measured)
  process.stdout.write(`\n${text}`)
  if (json && measured.json) process.stdout.write(`${JSON.stringify(measured.json)}\n`)
  sections.push(text)
  tick()
}
if (!only && !short) {
  const dated = (await readFile(FIGURES, 'utf8')).replace(/^\d+ processors .*$/m, environment)
  const figures = sections.reduce(withSection, dated)
  await writeFile(FIGURES, figures)
  await writeFile(PAGE, withVerdicts(await readFile(PAGE, 'utf8'), figures))
}
