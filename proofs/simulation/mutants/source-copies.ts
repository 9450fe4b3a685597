import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Mutant, mutate } from './mutants.ts'

/** Temporary copies of the source that a run needs; the exit of this process removes them. */

const PARTS = [
  'functions',
  'shared',
  'infra',
  'events',
  'sandbox/aws',
  'commands/terminal',
  'proofs/simulation',
  'package.json',
]

const folders = new Set<string>()

export const copySource = (mutant?: Mutant): string => {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'))
  folders.add(folder)
  for (const part of PARTS) cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  if (mutant) {
    const file = join(folder, mutant.file)
    writeFileSync(file, mutate(readFileSync(file, 'utf8'), mutant))
  }
  return folder
}

export const removeCopy = (folder: string): void => {
  // A process that was just stopped may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  folders.delete(folder)
}

process.once('exit', () => {
  for (const folder of folders) removeCopy(folder)
})
