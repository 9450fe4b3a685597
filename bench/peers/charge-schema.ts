/** The body of a charge as JSON Schema, for the validator. */
export const chargeSchema = {
  type: 'object',
  required: ['body'],
  properties: {
    body: {
      type: 'object',
      required: [
        'phone_number',
        'bank_identifier',
        'amount',
        'currency',
        'narration',
        'partner_reference',
      ],
      properties: {
        phone_number: { type: 'string', pattern: '^\\+233[0-9]{9}$' },
        bank_identifier: { type: 'string', minLength: 1, maxLength: 20 },
        amount: { type: 'string', pattern: '^[0-9]{1,5}\\.[0-9]{2}$' },
        currency: { const: 'GHS' },
        narration: { type: 'string', minLength: 1, maxLength: 100 },
        partner_reference: { type: 'string', minLength: 1, maxLength: 50 },
        metadata: { type: 'object' },
      },
    },
  },
} as const
