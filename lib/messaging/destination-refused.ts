/** Why nothing is sent there, whatever the message says: its name is the code of the messages concerned. */
export class DestinationRefused extends Error {
  override readonly name = "DestinationRefused";
}
