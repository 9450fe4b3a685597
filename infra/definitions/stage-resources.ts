import type { QueueName } from '../../shared/queues/messages.ts'
import { type FunctionRow, functionRows } from './functions.ts'
import { type JobName, jobNames, jobRow } from './jobs.ts'
import { type QueueRow, queueRows } from './queues.ts'
import type { Stage } from './stages.ts'

/** What of all functions and queues a stage has: where money is real, nothing that plays a bank. */

const players: readonly JobName[] = ['report-sandbox-outcome']

const playerQueues: readonly QueueName[] = players.flatMap((name) => {
  const { from } = jobRow(name)
  return 'queues' in from ? from.queues : []
})

type Parts = Pick<Stage, 'hasSandboxBank'>

const hasQueue =
  ({ hasSandboxBank }: Parts) =>
  (name: QueueName): boolean =>
    hasSandboxBank || !playerQueues.includes(name)

export const jobsOf = ({ hasSandboxBank }: Parts): JobName[] =>
  jobNames.filter((name) => hasSandboxBank || !players.includes(name))

export const functionsOf = (stage: Parts): FunctionRow[] =>
  functionRows
    .filter(({ name }) => stage.hasSandboxBank || !(players as readonly string[]).includes(name))
    .map(({ permissions, ...row }) => ({
      ...row,
      permissions: { ...permissions, sends: permissions.sends?.filter(hasQueue(stage)) ?? [] },
    }))

export const queuesOf = (stage: Parts): QueueRow[] =>
  queueRows.filter(({ name }) => hasQueue(stage)(name))
