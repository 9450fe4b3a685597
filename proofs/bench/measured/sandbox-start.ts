import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { Measure } from '../figures.ts'
import { median } from '../samples.ts'

/** The time to the lines of the sandbox, its memory, and its use of a core while it is idle. */

const IDLE_SECONDS = 5

type Start = { starting: number; ready: number; megabytes: number; idlePercent: number }

/** Linux counts processor time in these units. */
const TICKS_PER_SECOND = 100

/** Returns the seconds of processor time of a process. */
const processorTime = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const megabytesOf = (pid: number | undefined): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_000
}

const startOnce = async (): Promise<Start> => {
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['commands/sandbox.ts', '--port', '0'], { stdio: 'pipe' })
  let starting = Number.NaN
  let ready = Number.NaN
  for await (const line of createInterface(child.stdout)) {
    if (line === 'starting') starting = performance.now() - startedAt
    if (!line.startsWith('ready ')) continue
    ready = performance.now() - startedAt
    break
  }
  await pause(1_000)
  const before = processorTime(child.pid)
  await pause(IDLE_SECONDS * 1_000)
  const used = processorTime(child.pid) - before
  const megabytes = megabytesOf(child.pid)
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { starting, ready, megabytes, idlePercent: (100 * used) / IDLE_SECONDS }
}

const measure: Measure = async ({ rounds }) => {
  const starts: Start[] = []
  for (let round = 0; round < rounds; round += 1) starts.push(await startOnce())
  const figure = (name: string, key: keyof Start, atMost: number, unit?: 'ms') => ({
    name,
    ours: median(starts.map((start) => start[key])),
    target: { atMost },
    ...(unit && { unit }),
  })
  return {
    title: 'Start of the sandbox',
    explanation: 'From the start of the Node process to a line on standard output; then idle.',
    figures: [
      figure('until `starting`', 'starting', 100, 'ms'),
      figure('until `ready`', 'ready', 1_000, 'ms'),
      figure('memory, MB', 'megabytes', 200),
      figure('idle, percent of a core', 'idlePercent', 2),
    ],
  }
}

export const parts = { 'sandbox-start': measure }
