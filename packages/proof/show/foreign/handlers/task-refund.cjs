const axios = require("axios");
const { SSMClient, GetParameterCommand } = require("@aws-sdk/client-ssm");

const ssm = new SSMClient({});

module.exports.handler = async (state) => {
  const { Parameter } = await ssm.send(
    new GetParameterCommand({ Name: process.env.TOKEN_PARAMETER, WithDecryption: true }),
  );
  const { data } = await axios.post(
    `${process.env.PAYMENTS_URL}/v1/refunds`,
    { charge: state.chargeId, amount: state.amount },
    { headers: { Authorization: `Bearer ${Parameter.Value}` } },
  );
  return { ...state, refundId: data.refundId };
};
