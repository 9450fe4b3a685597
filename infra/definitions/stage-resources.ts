import type { QueueName } from '../../shared/queues/messages.ts'
import { type FunctionRow, functionRows } from './functions.ts'
import { type JobName, jobNames, jobRow, type QueueRow, queueRows } from './jobs.ts'
import type { Stage } from './stages.ts'

/** Selects the jobs, functions and queues of a stage; a production stage has no sandbox bank. */

const SANDBOX_JOB = 'report-sandbox-outcome' satisfies JobName
const { from } = jobRow(SANDBOX_JOB)
const sandboxQueues: readonly QueueName[] = 'queues' in from ? from.queues : []

type SandboxBank = Pick<Stage, 'hasSandboxBank'>

const hasQueue = ({ hasSandboxBank }: SandboxBank, name: QueueName): boolean =>
  hasSandboxBank || !sandboxQueues.includes(name)

export const jobsOf = ({ hasSandboxBank }: SandboxBank): JobName[] =>
  jobNames.filter((name) => hasSandboxBank || name !== SANDBOX_JOB)

export const functionsOf = (stage: SandboxBank): FunctionRow[] =>
  functionRows
    .filter(({ name }) => stage.hasSandboxBank || name !== SANDBOX_JOB)
    .map(({ permissions, ...row }) => {
      const sends = permissions.sends?.filter((queue) => hasQueue(stage, queue)) ?? []
      return { ...row, permissions: { ...permissions, sends } }
    })

export const queuesOf = (stage: SandboxBank): QueueRow[] =>
  queueRows.filter(({ name }) => hasQueue(stage, name))
