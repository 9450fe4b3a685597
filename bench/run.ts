import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from './figures.ts'
import type { Measured, Options } from './part.ts'
import { remarks, section, tableText } from './report.ts'
import { type PartName, partNames } from './rows.ts'

/**
 * `npm run bench -- [--short | --full] [--only PART ...]`: measures each part beside its base in one
 * process, part after part, prints the table, and writes docs/benchmarks.md once all were measured.
 */

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})

const ROUNDS = 5
const ROUNDS_SHORT = 1
const PAGE = join(import.meta.dirname, '../docs/benchmarks.md')

const options: Options = {
  rounds: values.short ? ROUNDS_SHORT : ROUNDS,
  short: values.short,
  full: values.full,
}

const isPart = (name: string): name is PartName => partNames.some((part) => part === name)
const strangers = (values.only ?? []).filter((name) => !isPart(name))
if (strangers.length > 0) {
  process.stderr.write(`No such part: ${strangers}. There are ${partNames.join(', ')}.\n`)
  process.exit(1)
}
const wanted = partNames.filter((part) => values.only?.includes(part) ?? true)

/** In a process of its own: what one part has warmed or patched is not the next one's. */
const measured = async (part: PartName): Promise<Measured> => {
  const child = fork(join(import.meta.dirname, 'part.ts'), [part, JSON.stringify(options)], {
    execArgv: ['--expose-gc', '--disable-warning=DEP0040'],
    serialization: 'advanced',
  })
  const exited = once(child, 'exit')
  const told = once(child, 'message').then(([message]) => message as Measured)
  const result = await Promise.race([told, exited.then(() => undefined)])
  if (!result) throw new Error(`${part} was not measured`)
  await exited
  return result
}

const text = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8' }).trim()

const commit = (): string => {
  const changed = text(
    'git',
    'status',
    '--porcelain',
    '--',
    'functions',
    'shared',
    'infra',
    'bench',
  )
  return `${text('git', 'rev-parse', '--short', 'HEAD')}${changed ? ', and changes' : ''}`
}

const head = (): string =>
  [
    `${availableParallelism()} processors (${process.arch}), Node ${process.versions.node}`,
    'DynamoDB Local on the same processors',
    `commit ${commit()}`,
    new Date().toISOString().slice(0, 10),
  ].join('; ')

const INTRODUCTION = `What is measured stands beside its base, which is measured in the same process, in turns with it.
A figure is the median of ${options.rounds} runs, each of which gives a ratio; their least and most are the spread.
Ratios mean something elsewhere; milliseconds are this machine's. \`npm run bench\` writes this page anew.`

const figures = new Map<string, Figure>()
const sections: string[] = []
process.stdout.write(`${head()}\n`)
for (const part of wanted) {
  const { figures: found, notes = [] } = await measured(part)
  for (const [name, figure] of Object.entries(found)) figures.set(name, figure)
  const said = remarks(part, figures)
  process.stdout.write(`\n${[tableText(part, figures), ...said].join('\n')}\n`)
  sections.push(section(part, figures, notes))
}
if (wanted.length === partNames.length && !values.short) {
  await writeFile(PAGE, ['# Benchmarks', '', head(), '', INTRODUCTION, '', ...sections].join('\n'))
}
