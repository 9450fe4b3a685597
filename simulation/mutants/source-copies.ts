import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Fault, planted } from './mutant.ts'

/** Copies of what a simulated world is made of, each in a folder that goes away again. */

const PARTS = ['shared', 'functions', 'infra', 'simulation', 'events', 'package.json']

const folders = new Set<string>()

/** A copy of the source with a fault in it, or without any. @returns where it is */
export const copyWith = async (fault?: Fault): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'))
  folders.add(folder)
  for (const part of PARTS.filter((one) => existsSync(one))) {
    await cp(part, join(folder, part), { recursive: true })
  }
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  if (fault) {
    const file = join(folder, fault.file)
    await writeFile(file, planted(await readFile(file, 'utf8'), fault))
  }
  return folder
}

export const remove = async (folder: string): Promise<void> => {
  // Whoever was stopped in it may be writing yet.
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  folders.delete(folder)
}

export const removeAll = async (): Promise<void> => {
  await Promise.all([...folders].map(remove))
}
