import { recurring } from '../infra/definitions/jobs.ts'
import type { RealClock } from './aws/clock.ts'
import type { Entry } from './aws/journal.ts'
import type { JournalFile } from './aws/journal-file.ts'
import { queueArn } from './aws/queues.ts'
import { restore } from './aws/restore.ts'
import type { Memory } from './memory.ts'
import type { SandboxFunctions } from './sandbox-functions.ts'
import { seed } from './seeds.ts'

const HOUR_MS = 3_600_000

type StateDeps = {
  clock: RealClock
  memory: Memory
  journal: JournalFile | undefined
  functions: SandboxFunctions
  /** Whether a second operator must approve some calls. */
  approvals: boolean
}

/** Restores the state of the journal, or adds the seeds. @returns the reset to the seeds */
export const openState = async (
  { clock, memory, journal, functions, approvals }: StateDeps,
  cleanup: AsyncDisposableStack,
): Promise<() => Promise<void>> => {
  /** Fills an empty table, and starts the recurring schedules. */
  const begin = async (): Promise<void> => {
    if (memory.aws().table.items().length === 0) {
      journal?.begin()
      // The seeds need no approval.
      functions.setApprovals(false)
      await seed(functions)
      journal?.commit()
      // No job is in flight yet.
      if (approvals) await functions.restart()
    }
    functions.setApprovals(approvals)
    for (const { name: Name, queue, expression } of recurring) {
      const Target = { Arn: queueArn(queue), Input: '{}' }
      memory.aws().scheduler.start({ Name, ScheduleExpression: expression, Target })
    }
  }
  const restoreFrom = (entries: Iterable<Entry>) => restore(memory.aws(), entries)
  const restored = journal ? journal.read(restoreFrom) : restoreFrom([])
  journal?.compact(restored)
  for (const entry of restored) if ('clock' in entry) clock.set(entry.clock)
  await begin()
  const expire = () => memory.aws().table.removeExpired(Date.now())
  expire()
  const expiring = setInterval(expire, HOUR_MS)
  cleanup.defer(() => clearInterval(expiring))
  return async () => {
    await functions.restart()
    clock.set({ ahead: 0 })
    await memory.replace(begin)
  }
}
