import type { SandboxReport } from '../../shared/domain/banks/sandbox-outcome.ts'
import { batchConsumer } from '../../shared/queues/consume.ts'
import { sandboxOutcome, sidelinedSubmission } from '../../shared/queues/outbox.ts'
import { batchedSend } from '../../shared/queues/send.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { newSubmitter } from '../../shared/submissions/submit.ts'

/**
 * Submits pending debits to their banks (docs/api.md#transitions). All messages of a batch run
 * concurrently. Submissions of a slow bank move to the sidelined queue.
 */
export const submitToBank = (runtime: Runtime) =>
  batchConsumer('submissions', () => {
    const send = batchedSend()
    const reportLater = (report: SandboxReport) => send(sandboxOutcome(report))
    const submit = newSubmitter({ skipsSlowBanks: true, reportLater }, runtime)
    return async ({ reference, resubmission }, requestId, { repeated }) => {
      const isRepeated = repeated || resubmission === true
      const sidelined = await submit({ reference, repeated: isRepeated, requestId })
      if (sidelined) await send(sidelinedSubmission(sidelined.debit, sidelined))
    }
  })

export const handler = submitToBank(real)
