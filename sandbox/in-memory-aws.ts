import type { JobName } from '../infra/definitions/jobs.ts'
import { type AwsOptions, newAws } from './aws/aws.ts'
import type { RealClock } from './aws/clock.ts'
import type { Invoke } from './aws/event-sources.ts'
import type { JournalFile } from './aws/journal-file.ts'
import type { Change } from './aws/table/change.ts'
import { NAME } from './environment.ts'
import type { OnFault } from './faults.ts'
import { fitting } from './function-host.ts'
import { newMemory, type Scope, untilStopped } from './memory.ts'

const MINUTE_MS = 60_000
const BUSY_MINUTES = 10
const QUIET_MINUTES = 60

/**
 * Slows the sweep down while the clock moves: it runs each minute for ten minutes after a change, then
 * each hour. It would find nothing in between, and five days have 7,200 minutes.
 */
const sweepPace = (clock: RealClock) => {
  let changedAt = 0
  let sweptAt = 0
  return {
    onCommit: (changes: readonly Change[]): void => {
      if (changes.some(({ after }) => after?.entity !== 'sweep')) changedAt = clock.now()
    },
    /** Reports whether a schedule must not send its message. */
    skips: (arn: string): boolean => {
      const now = clock.now()
      if (!arn.endsWith(':sweeps')) return false
      const isBusy = now - changedAt < BUSY_MINUTES * MINUTE_MS
      if (clock.isMoving() && !isBusy && now - sweptAt < QUIET_MINUTES * MINUTE_MS) return true
      sweptAt = now
      return false
    },
  }
}

type ServiceDeps = {
  clock: RealClock
  /** Keeps the changes; without it, they end with the process. */
  journal: JournalFile | undefined
  /** Invokes the function of a job. */
  invoke: (job: JobName, event: unknown) => Promise<unknown>
  onRecord: NonNullable<AwsOptions['onRecord']>
  onFault: OnFault
}

/** Opens the AWS of the sandbox in memory: the services, and the triggers that invoke functions. */
export const openMemory = ({ clock, journal, invoke, onRecord, onFault }: ServiceDeps) => {
  const invokeIn =
    (scope: Scope): Invoke =>
    async (job, event) => {
      try {
        return { kind: 'done', value: await scope(() => invoke(job, event)) }
      } catch {
        return { kind: 'failed' }
      }
    }
  return newMemory(clock, (ownClock, scope) =>
    newAws({
      clock: ownClock,
      tableName: NAME,
      invoke: invokeIn(scope),
      ...(journal && { journal: untilStopped(journal, ownClock) }),
      fitting,
      onRecord,
      onLostRecords: ({ length }) => onFault('relay', `${length} records were lost`),
      onDeadLetter: ({ queue, body }) => onFault(queue, `dead letter ${body}`),
      ...sweepPace(clock),
    }),
  )
}
