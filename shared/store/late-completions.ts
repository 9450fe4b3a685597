import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { BankCallback } from '../domain/bank-update.ts'
import type { Cause, Debit } from '../domain/debit.ts'
import { keys, table, tableName } from './table.ts'

/**
 * A bank says that it debited a customer after the debit had failed here: somebody's money, which
 * a person must look after. One record for each such report.
 */
export const putLateCompletion = async (
  { facts }: Debit,
  report: BankCallback,
  { at, by, requestId }: Cause,
): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: {
        ...keys.lateCompletion(facts.reference, requestId),
        entity: 'late-completion',
        reference: facts.reference,
        partner: facts.partner,
        bank: facts.bank.identifier,
        amount: facts.amount,
        bankReference: report.bank_reference,
        ...(report.fee === undefined ? {} : { fee: report.fee }),
        at: at.toISOString(),
        by,
        requestId,
      },
    }),
  )
}
