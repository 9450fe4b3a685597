import { failureMessages } from '../../shared/domain/banks/sandbox-outcome.ts'
import { OPEN, type Play, type PlayedDebit } from './play.ts'

/** Reports that the service rejects: an operator must resolve the exceptions. */

const COMPLETED = { status: 'completed' }
const FAILED = { status: 'failed', error_message: failureMessages.transaction_declined }
/** No published approval method. */
const MALFORMED = { status: 'completed', approval_method: 'fax' }

const rejectReport = async (play: Play, debit: PlayedDebit, body: object) => {
  const { status: reply_status } = await play.report(debit, body)
  const exceptions = await play.exceptions(debit)
  const { reference, status } = await play.show(debit.reference)
  return { reference, status, reply_status, exceptions }
}

export const completeLate = async (play: Play) => {
  const debit = await play.debit([...OPEN, 'failed'])
  return rejectReport(play, await play.fail(debit, FAILED.error_message), COMPLETED)
}

export const contradict = async (play: Play) => rejectReport(play, await play.completed(), FAILED)

export const refuseReport = async (play: Play) => rejectReport(play, await play.open(), MALFORMED)

/** The debit is completed, so that a note resolves its exception. */
export const leaveException = async (play: Play) => {
  const debit = await play.open()
  await play.report(debit, MALFORMED)
  const { reference, status } = await play.complete(debit)
  return { reference, status, exceptions: await play.exceptions(debit) }
}
