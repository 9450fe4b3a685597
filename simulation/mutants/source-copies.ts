import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Mutant, mutate } from './mutants.ts'

/** Temporary copies of the source that a run needs. */

const PARTS = ['aws', 'shared', 'functions', 'infra', 'simulation', 'events', 'package.json']

const folders = new Set<string>()

/** Copies the source, with a mutant if given, and returns the folder. */
export const copySource = async (mutant?: Mutant): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'mutant-'))
  folders.add(folder)
  for (const part of PARTS.filter((path) => existsSync(path))) {
    await cp(part, join(folder, part), { recursive: true })
  }
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  if (mutant) {
    const file = join(folder, mutant.file)
    await writeFile(file, mutate(await readFile(file, 'utf8'), mutant))
  }
  return folder
}

export const removeCopy = async (folder: string): Promise<void> => {
  // A process that was just stopped may still write.
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  folders.delete(folder)
}

export const removeCopies = async (): Promise<void> => {
  await Promise.all([...folders].map(removeCopy))
}
