/** The customers of a new sandbox, each with an outcome (docs/api.md#sandbox). */
export const sandboxCustomers = [
  ['+233241234567', 'Ama Mensah: completes'],
  ['+233241111111', 'Kofi Owusu: insufficient funds'],
  ['+233242222222', 'Esi Boateng: times out'],
  ['+233243333333', 'Yaw Asante: declines'],
  ['+233244444444', 'Abena Osei: bank stays silent'],
] as const
