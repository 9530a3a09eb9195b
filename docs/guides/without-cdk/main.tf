# Made from the constructs by tools/without-cdk. How to deploy it: docs/guides/without-cdk.md

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws     = { source = "hashicorp/aws", version = ">= 6.25" }
    archive = { source = "hashicorp/archive", version = ">= 2.4" }
  }
}

data "aws_partition" "current" {}

variable "name" {
  description = "The names of all resources begin with it"
  type        = string
  default     = "shop"
}

variable "alarm_topic" {
  description = "The ARN of the SNS topic that hears of alarms"
  type        = string
}

data "archive_file" "create_order" {
  type        = "zip"
  source_dir  = "${path.module}/build/create-order"
  output_path = "${path.module}/.terraform/create_order.zip"
}

data "archive_file" "ship_order" {
  type        = "zip"
  source_dir  = "${path.module}/build/ship-order"
  output_path = "${path.module}/.terraform/ship_order.zip"
}

data "archive_file" "fulfil_order" {
  type        = "zip"
  source_dir  = "${path.module}/build/fulfil-order"
  output_path = "${path.module}/.terraform/fulfil_order.zip"
}

data "archive_file" "start_fulfilment" {
  type        = "zip"
  source_dir  = "${path.module}/build/start-fulfilment"
  output_path = "${path.module}/.terraform/start_fulfilment.zip"
}

data "archive_file" "outbox" {
  type        = "zip"
  source_dir  = "${path.module}/node_modules/onceonly/dist/functions/outbox"
  output_path = "${path.module}/.terraform/outbox.zip"
}

data "archive_file" "reconcile" {
  type        = "zip"
  source_dir  = "${path.module}/build/reconcile"
  output_path = "${path.module}/.terraform/reconcile.zip"
}

resource "aws_dynamodb_table" "records" {
  name                        = "${var.name}-records"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = "pk"
  stream_enabled              = true
  stream_view_type            = "NEW_IMAGE"
  deletion_protection_enabled = true

  attribute {
    name = "pk"
    type = "S"
  }

  attribute {
    name = "unsentShard"
    type = "N"
  }

  attribute {
    name = "unsentSince"
    type = "N"
  }

  attribute {
    name = "unsettledShard"
    type = "N"
  }

  attribute {
    name = "unsettledSince"
    type = "N"
  }

  global_secondary_index {
    name            = "outbox"
    hash_key        = "unsentShard"
    range_key       = "unsentSince"
    projection_type = "KEYS_ONLY"
  }

  global_secondary_index {
    name            = "unsettled"
    hash_key        = "unsettledShard"
    range_key       = "unsettledSince"
    projection_type = "KEYS_ONLY"
  }

  ttl {
    attribute_name = "expiresAt"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_sqs_queue" "shipments_dead_letters" {
  name                      = "${var.name}-shipments-dead-letters.fifo"
  fifo_queue                = true
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = true
}

resource "aws_sqs_queue_policy" "shipments_dead_letters_policy" {
  queue_url = aws_sqs_queue.shipments_dead_letters.url
  policy = jsonencode({
    Statement = [
      {
        Action = "sqs:*"
        Condition = {
          Bool = {
            "aws:SecureTransport" = "false"
          }
        }
        Effect = "Deny"
        Principal = {
          AWS = "*"
        }
        Resource = aws_sqs_queue.shipments_dead_letters.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_sqs_queue" "shipments" {
  name                        = "${var.name}-shipments.fifo"
  fifo_queue                  = true
  content_based_deduplication = false
  deduplication_scope         = "messageGroup"
  fifo_throughput_limit       = "perMessageGroupId"
  visibility_timeout_seconds  = 174
  message_retention_seconds   = 345600
  sqs_managed_sse_enabled     = true
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.shipments_dead_letters.arn
    maxReceiveCount     = 5
  })
  redrive_allow_policy = jsonencode({
    redrivePermission = "denyAll"
  })
}

resource "aws_sqs_queue_policy" "shipments_policy" {
  queue_url = aws_sqs_queue.shipments.url
  policy = jsonencode({
    Statement = [
      {
        Action = "sqs:*"
        Condition = {
          Bool = {
            "aws:SecureTransport" = "false"
          }
        }
        Effect = "Deny"
        Principal = {
          AWS = "*"
        }
        Resource = aws_sqs_queue.shipments.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role" "create_order_role" {
  name = "${var.name}-create-order-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy_attachment" "create_order_role" {
  role       = aws_iam_role.create_order_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "create_order_rights" {
  name = "CreateOrderRights"
  role = aws_iam_role.create_order_role.name
  policy = jsonencode({
    Statement = [
      {
        Action = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["create-order#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "create_order" {
  function_name    = "${var.name}-create-order"
  filename         = data.archive_file.create_order.output_path
  source_code_hash = data.archive_file.create_order.output_base64sha256
  handler          = "index.handler"
  runtime          = "nodejs24.x"
  memory_size      = 512
  timeout          = 29
  role             = aws_iam_role.create_order_role.arn
  depends_on       = [aws_iam_role_policy.create_order_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE             = aws_dynamodb_table.records.name
      IDEMPOTENCY_OUTBOX            = "8"
      IDEMPOTENCY_RETENTION_SECONDS = "86400"
    }
  }
}

resource "aws_iam_role" "ship_order_role" {
  name = "${var.name}-ship-order-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy_attachment" "ship_order_role" {
  role       = aws_iam_role.ship_order_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "ship_order_rights" {
  name = "ShipOrderRights"
  role = aws_iam_role.ship_order_role.name
  policy = jsonencode({
    Statement = [
      {
        Action = "dynamodb:GetItem"
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["ship-order#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["ship-order#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
          "ForAllValues:StringNotEquals" = {
            "dynamodb:Attributes" = [
              "messages",
              "messageItems",
              "unsentShard",
              "unsentSince",
              "delivery",
              "sendingUntil",
              "sender",
              "notes",
            ]
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = [
          "sqs:ChangeMessageVisibility",
          "sqs:DeleteMessage",
          "sqs:GetQueueAttributes",
          "sqs:GetQueueUrl",
          "sqs:ReceiveMessage",
        ]
        Effect   = "Allow"
        Resource = aws_sqs_queue.shipments.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "ship_order" {
  function_name    = "${var.name}-ship-order"
  filename         = data.archive_file.ship_order.output_path
  source_code_hash = data.archive_file.ship_order.output_base64sha256
  handler          = "index.handler"
  runtime          = "nodejs24.x"
  memory_size      = 512
  timeout          = 29
  role             = aws_iam_role.ship_order_role.arn
  depends_on       = [aws_iam_role_policy.ship_order_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE             = aws_dynamodb_table.records.name
      IDEMPOTENCY_OUTBOX            = "none"
      IDEMPOTENCY_RETENTION_SECONDS = "3456000"
    }
  }
}

resource "aws_lambda_event_source_mapping" "ship_order_consumer_shipments" {
  event_source_arn        = aws_sqs_queue.shipments.arn
  function_name           = aws_lambda_function.ship_order.function_name
  batch_size              = 10
  enabled                 = true
  function_response_types = ["ReportBatchItemFailures"]
}

resource "aws_iam_role" "fulfil_order_role" {
  name = "${var.name}-fulfil-order-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy_attachment" "fulfil_order_role" {
  role       = aws_iam_role.fulfil_order_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicDurableExecutionRolePolicy"
}

resource "aws_iam_role_policy" "fulfil_order_rights" {
  name = "FulfilOrderRights"
  role = aws_iam_role.fulfil_order_role.name
  policy = jsonencode({
    Statement = [
      {
        Action = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["fulfil-order#*", "charge#*", "ship#*"]
          }
          Null = {
            "dynamodb:LeadingKeys" = "false"
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "fulfil_order" {
  function_name    = "${var.name}-fulfil-order"
  filename         = data.archive_file.fulfil_order.output_path
  source_code_hash = data.archive_file.fulfil_order.output_base64sha256
  handler          = "index.handler"
  runtime          = "nodejs24.x"
  memory_size      = 512
  timeout          = 29
  role             = aws_iam_role.fulfil_order_role.arn
  publish          = true
  depends_on       = [aws_iam_role_policy.fulfil_order_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE             = aws_dynamodb_table.records.name
      IDEMPOTENCY_OUTBOX            = "8"
      IDEMPOTENCY_RETENTION_SECONDS = "86400"
    }
  }

  durable_config {
    execution_timeout = 604800
    retention_period  = 30
  }
}

resource "aws_iam_role_policy" "fulfil_order_execution_rights" {
  name = "FulfilOrderExecutionRights"
  role = aws_iam_role.fulfil_order_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = "lambda:GetDurableExecution"
        Effect   = "Allow"
        Resource = "${aws_lambda_function.fulfil_order.arn}:*/durable-execution/*"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_alias" "fulfil_order_aliaslive" {
  name             = "live"
  function_name    = aws_lambda_function.fulfil_order.function_name
  function_version = aws_lambda_function.fulfil_order.version
}

resource "aws_iam_role" "start_fulfilment_role" {
  name = "${var.name}-start-fulfilment-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy_attachment" "start_fulfilment_role" {
  role       = aws_iam_role.start_fulfilment_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "start_fulfilment_rights" {
  name = "StartFulfilmentRights"
  role = aws_iam_role.start_fulfilment_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = "lambda:InvokeFunction"
        Effect   = "Allow"
        Resource = aws_lambda_alias.fulfil_order_aliaslive.arn
      },
      {
        Action   = "lambda:ListDurableExecutionsByFunction"
        Effect   = "Allow"
        Resource = aws_lambda_function.fulfil_order.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "start_fulfilment" {
  function_name    = "${var.name}-start-fulfilment"
  filename         = data.archive_file.start_fulfilment.output_path
  source_code_hash = data.archive_file.start_fulfilment.output_base64sha256
  handler          = "index.handler"
  runtime          = "nodejs24.x"
  memory_size      = 512
  timeout          = 29
  role             = aws_iam_role.start_fulfilment_role.arn
  depends_on = [
    aws_iam_role_policy.start_fulfilment_execution_rights,
    aws_iam_role_policy.start_fulfilment_rights,
  ]

  environment {
    variables = {
      DURABLE_FUNCTION = aws_lambda_alias.fulfil_order_aliaslive.arn
    }
  }
}

resource "aws_iam_role_policy" "start_fulfilment_execution_rights" {
  name = "StartFulfilmentExecutionRights"
  role = aws_iam_role.start_fulfilment_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = "lambda:GetDurableExecution"
        Effect   = "Allow"
        Resource = "${aws_lambda_function.fulfil_order.arn}:*/durable-execution/*"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_cloudwatch_log_group" "outbox_relay_logs" {
  name              = "/aws/lambda/${var.name}-outbox-relay-logs"
  retention_in_days = 30
  skip_destroy      = true
}

resource "aws_iam_role" "outbox_relay_role" {
  name = "${var.name}-outbox-relay-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "outbox_relay_rights" {
  name = "OutboxRelayRights"
  role = aws_iam_role.outbox_relay_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Effect   = "Allow"
        Resource = aws_cloudwatch_log_group.outbox_relay_logs.arn
      },
      {
        Action   = ["dynamodb:GetItem", "dynamodb:UpdateItem"]
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = "dynamodb:DeleteItem"
        Condition = {
          "ForAnyValue:StringEquals" = {
            "dynamodb:EnclosingOperation" = ["TransactWriteItems"]
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = [
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
          "dynamodb:ListStreams",
        ]
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.stream_arn
      },
      {
        Action   = "sqs:SendMessage"
        Effect   = "Allow"
        Resource = aws_sqs_queue.shipments.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "outbox_relay" {
  function_name    = "${var.name}-outbox-relay"
  filename         = data.archive_file.outbox.output_path
  source_code_hash = data.archive_file.outbox.output_base64sha256
  handler          = "index.relay"
  runtime          = "nodejs24.x"
  architectures    = ["arm64"]
  memory_size      = 512
  timeout          = 30
  role             = aws_iam_role.outbox_relay_role.arn
  depends_on       = [aws_iam_role_policy.outbox_relay_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE   = aws_dynamodb_table.records.name
      OUTBOX_DESTINATIONS = "[\"${aws_sqs_queue.shipments.url}\"]"
      OUTBOX_SHARDS       = "8"
    }
  }

  logging_config {
    log_format = "JSON"
    log_group  = aws_cloudwatch_log_group.outbox_relay_logs.name
  }
}

resource "aws_lambda_event_source_mapping" "outbox_relay_stream" {
  event_source_arn               = aws_dynamodb_table.records.stream_arn
  function_name                  = aws_lambda_function.outbox_relay.function_name
  batch_size                     = 100
  starting_position              = "TRIM_HORIZON"
  bisect_batch_on_function_error = false
  function_response_types        = ["ReportBatchItemFailures"]

  filter_criteria {
    filter {
      pattern = "{\"dynamodb\":{\"NewImage\":{\"unsentSince\":{\"N\":[{\"exists\":true}]}}}}"
    }
  }
}

resource "aws_cloudwatch_log_group" "outbox_sweeper_logs" {
  name              = "/aws/lambda/${var.name}-outbox-sweeper-logs"
  retention_in_days = 30
  skip_destroy      = true
}

resource "aws_iam_role" "outbox_sweeper_role" {
  name = "${var.name}-outbox-sweeper-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy" "outbox_sweeper_rights" {
  name = "OutboxSweeperRights"
  role = aws_iam_role.outbox_sweeper_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Effect   = "Allow"
        Resource = aws_cloudwatch_log_group.outbox_sweeper_logs.arn
      },
      {
        Action   = ["dynamodb:GetItem", "dynamodb:UpdateItem"]
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = "dynamodb:DeleteItem"
        Condition = {
          "ForAnyValue:StringEquals" = {
            "dynamodb:EnclosingOperation" = ["TransactWriteItems"]
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action   = "dynamodb:Query"
        Effect   = "Allow"
        Resource = "${aws_dynamodb_table.records.arn}/index/outbox"
      },
      {
        Action   = "sqs:SendMessage"
        Effect   = "Allow"
        Resource = aws_sqs_queue.shipments.arn
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "outbox_sweeper" {
  function_name    = "${var.name}-outbox-sweeper"
  filename         = data.archive_file.outbox.output_path
  source_code_hash = data.archive_file.outbox.output_base64sha256
  handler          = "index.sweeper"
  runtime          = "nodejs24.x"
  architectures    = ["arm64"]
  memory_size      = 512
  timeout          = 30
  role             = aws_iam_role.outbox_sweeper_role.arn
  depends_on       = [aws_iam_role_policy.outbox_sweeper_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE   = aws_dynamodb_table.records.name
      OUTBOX_DESTINATIONS = "[\"${aws_sqs_queue.shipments.url}\"]"
      OUTBOX_SHARDS       = "8"
    }
  }

  logging_config {
    log_format = "JSON"
    log_group  = aws_cloudwatch_log_group.outbox_sweeper_logs.name
  }
}

resource "aws_cloudwatch_event_rule" "outbox_sweep" {
  name                = "${var.name}-outbox-sweep"
  schedule_expression = "rate(1 minute)"
  state               = "ENABLED"
}

resource "aws_cloudwatch_event_target" "outbox_sweep" {
  rule = aws_cloudwatch_event_rule.outbox_sweep.name
  arn  = aws_lambda_function.outbox_sweeper.arn
}

resource "aws_lambda_permission" "outbox_sweep_invoke" {
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.outbox_sweeper.arn
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.outbox_sweep.arn
}

resource "aws_iam_role" "reconcile_role" {
  name = "${var.name}-reconcile-role"
  assume_role_policy = jsonencode({
    Statement = [
      {
        Action = "sts:AssumeRole"
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_iam_role_policy_attachment" "reconcile_role" {
  role       = aws_iam_role.reconcile_role.name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_iam_role_policy" "reconcile_rights" {
  name = "ReconcileRights"
  role = aws_iam_role.reconcile_role.name
  policy = jsonencode({
    Statement = [
      {
        Action   = "dynamodb:GetItem"
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        Condition = {
          "ForAllValues:StringNotEquals" = {
            "dynamodb:Attributes" = [
              "messages",
              "messageItems",
              "unsentShard",
              "unsentSince",
              "delivery",
              "sendingUntil",
              "sender",
              "notes",
            ]
          }
        }
        Effect   = "Allow"
        Resource = aws_dynamodb_table.records.arn
      },
      {
        Action   = "dynamodb:Query"
        Effect   = "Allow"
        Resource = "${aws_dynamodb_table.records.arn}/index/unsettled"
      },
    ]
    Version = "2012-10-17"
  })
}

resource "aws_lambda_function" "reconcile" {
  function_name    = "${var.name}-reconcile"
  filename         = data.archive_file.reconcile.output_path
  source_code_hash = data.archive_file.reconcile.output_base64sha256
  handler          = "index.handler"
  runtime          = "nodejs24.x"
  memory_size      = 512
  timeout          = 60
  role             = aws_iam_role.reconcile_role.arn
  depends_on       = [aws_iam_role_policy.reconcile_rights]

  environment {
    variables = {
      IDEMPOTENCY_TABLE = aws_dynamodb_table.records.name
    }
  }
}

resource "aws_cloudwatch_event_rule" "reconciling" {
  name                = "${var.name}-reconciling"
  schedule_expression = "rate(1 minute)"
  state               = "ENABLED"
}

resource "aws_cloudwatch_event_target" "reconciling" {
  rule = aws_cloudwatch_event_rule.reconciling.name
  arn  = aws_lambda_function.reconcile.arn
}

resource "aws_lambda_permission" "reconciling_invoke" {
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.reconcile.arn
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.reconciling.arn
}

resource "aws_cloudwatch_metric_alarm" "alarm_replay_rate_warning" {
  alarm_name          = "${var.name}-alarm-replay-rate-warning"
  alarm_description   = "Warning: Many responses are replays: callers or queues are repeating themselves. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#replay-rate"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  threshold           = 10
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "expr_1"
    expression  = "IF((FILL(replayed, 0) + FILL(executed, 0)) >= 20, 100 * FILL(replayed, 0) / (FILL(replayed, 0) + FILL(executed, 0)), 0)"
    label       = "replayed"
    return_data = true
  }

  metric_query {
    id          = "replayed"
    return_data = false

    metric {
      metric_name = "Replayed"
      namespace   = "Onceonly"
      period      = 300
      stat        = "Sum"
      dimensions = {
        service = "onceonly"
      }
    }
  }

  metric_query {
    id          = "executed"
    return_data = false

    metric {
      metric_name = "Executed"
      namespace   = "Onceonly"
      period      = 300
      stat        = "Sum"
      dimensions = {
        service = "onceonly"
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_mismatches_warning" {
  alarm_name          = "${var.name}-alarm-mismatches-warning"
  alarm_description   = "Warning: Many calls reused a key with a different payload and were refused. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#mismatches"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  metric_name         = "Mismatch"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 20
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_in_progress_warning" {
  alarm_name          = "${var.name}-alarm-in-progress-warning"
  alarm_description   = "Warning: Many calls are refused because another call holds the claim on their key. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#in-progress"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  metric_name         = "InProgress"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 20
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_in_progress_age_warning" {
  alarm_name          = "${var.name}-alarm-in-progress-age-warning"
  alarm_description   = "Warning: A key has been in progress for longer than its attempts can last: no attempt is finishing it. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#in-progress-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "InProgressAge"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 900000
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_held_critical" {
  alarm_name          = "${var.name}-alarm-held-critical"
  alarm_description   = "Critical: A key is held: an attempt ended with an unknown outcome, and no retry may run until it's resolved. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#held"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Held"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_taken_over_warning" {
  alarm_name          = "${var.name}-alarm-taken-over-warning"
  alarm_description   = "Warning: An attempt died in a crash or a timeout, and another one took over its key. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#taken-over"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "TakenOver"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_claim_lost_warning" {
  alarm_name          = "${var.name}-alarm-claim-lost-warning"
  alarm_description   = "Warning: An attempt outlived its claim or overlapped another one: its external effects may have happened twice. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#claim-lost"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "ClaimLost"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_completion_lost_critical" {
  alarm_name          = "${var.name}-alarm-completion-lost-critical"
  alarm_description   = "Critical: A handler ran, but its result couldn't be recorded: a retry will run it again. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#completion-lost"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "CompletionLost"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_ran_unprotected_critical" {
  alarm_name          = "${var.name}-alarm-ran-unprotected-critical"
  alarm_description   = "Critical: Handlers ran without a claim: nothing prevents their effects from happening twice. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#ran-unprotected"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "RanUnprotected"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outcome_unknown_warning" {
  alarm_name          = "${var.name}-alarm-outcome-unknown-warning"
  alarm_description   = "Warning: An attempt ended with an unknown outcome: its effect may have happened, and a retry will run after its lease. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outcome-unknown"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutcomeUnknown"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_unsettled_age_warning" {
  alarm_name          = "${var.name}-alarm-unsettled-age-warning"
  alarm_description   = "Warning: An outcome has been unknown for a long time: the reconciler can't settle its key, or isn't running. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#unsettled-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "UnsettledAge"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 900000
  treat_missing_data  = "breaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_unsettled_age_critical" {
  alarm_name          = "${var.name}-alarm-unsettled-age-critical"
  alarm_description   = "Critical: An outcome has been unknown for a long time: the reconciler can't settle its key, or isn't running. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#unsettled-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "UnsettledAge"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 14400000
  treat_missing_data  = "breaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_store_failures_warning" {
  alarm_name          = "${var.name}-alarm-store-failures-warning"
  alarm_description   = "Warning: Requests to the table failed: calls are refused, or run unprotected if the options allow it. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#store-failures"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "StoreFailed"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_store_failures_critical" {
  alarm_name          = "${var.name}-alarm-store-failures-critical"
  alarm_description   = "Critical: Requests to the table failed: calls are refused, or run unprotected if the options allow it. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#store-failures"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  metric_name         = "StoreFailed"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_table_throttles_warning" {
  alarm_name          = "${var.name}-alarm-table-throttles-warning"
  alarm_description   = "Warning: DynamoDB is throttling requests to the records table. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#table-throttles"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  threshold           = 0
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "expr_1"
    expression  = "getitem + putitem + updateitem + deleteitem + query + transactwriteitems"
    label       = "Sum of throttled requests across all operations"
    return_data = true
  }

  metric_query {
    id          = "getitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "GetItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "putitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "PutItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "updateitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "UpdateItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "deleteitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "DeleteItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "query"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "Query"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "transactwriteitems"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "TransactWriteItems"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_table_throttles_critical" {
  alarm_name          = "${var.name}-alarm-table-throttles-critical"
  alarm_description   = "Critical: DynamoDB is throttling requests to the records table. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#table-throttles"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  threshold           = 0
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "expr_1"
    expression  = "getitem + putitem + updateitem + deleteitem + query + transactwriteitems"
    label       = "Sum of throttled requests across all operations"
    return_data = true
  }

  metric_query {
    id          = "getitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "GetItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "putitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "PutItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "updateitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "UpdateItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "deleteitem"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "DeleteItem"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "query"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "Query"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }

  metric_query {
    id          = "transactwriteitems"
    return_data = false

    metric {
      metric_name = "ThrottledRequests"
      namespace   = "AWS/DynamoDB"
      period      = 300
      stat        = "Sum"
      dimensions = {
        Operation = "TransactWriteItems"
        TableName = aws_dynamodb_table.records.name
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_lag_warning" {
  alarm_name          = "${var.name}-alarm-outbox-lag-warning"
  alarm_description   = "Warning: Committed messages were sent late. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-lag"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutboxLag"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 60000
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_lag_critical" {
  alarm_name          = "${var.name}-alarm-outbox-lag-critical"
  alarm_description   = "Critical: Committed messages were sent late. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-lag"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutboxLag"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 900000
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_send_failed_warning" {
  alarm_name          = "${var.name}-alarm-send-failed-warning"
  alarm_description   = "Warning: Committed messages couldn't be sent; the relay retries them. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#send-failed"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  metric_name         = "OutboxSendFailed"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_age_warning" {
  alarm_name          = "${var.name}-alarm-outbox-age-warning"
  alarm_description   = "Warning: A committed message has been waiting for too long, or the sweeper isn't running. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutboxBacklogAge"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 900000
  treat_missing_data  = "breaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_age_critical" {
  alarm_name          = "${var.name}-alarm-outbox-age-critical"
  alarm_description   = "Critical: A committed message has been waiting for too long, or the sweeper isn't running. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutboxBacklogAge"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 14400000
  treat_missing_data  = "breaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_backlog_warning" {
  alarm_name          = "${var.name}-alarm-outbox-backlog-warning"
  alarm_description   = "Warning: The messages of many commits are waiting to be sent. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-backlog"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  metric_name         = "OutboxBacklog"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 10000
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_outbox_parked_critical" {
  alarm_name          = "${var.name}-alarm-outbox-parked-critical"
  alarm_description   = "Critical: Committed messages are parked: they won't be sent until an operator retries or drops them. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#outbox-parked"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "OutboxParkedBacklog"
  namespace           = "Onceonly"
  period              = 300
  statistic           = "Maximum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    service = "onceonly"
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_relay_iterator_age_warning" {
  alarm_name          = "${var.name}-alarm-relay-iterator-age-warning"
  alarm_description   = "Warning: The relay is falling behind the table's stream, which keeps changes for only 24 hours. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#relay-iterator-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "IteratorAge"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Maximum"
  threshold           = 60000
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.outbox_relay.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_relay_iterator_age_critical" {
  alarm_name          = "${var.name}-alarm-relay-iterator-age-critical"
  alarm_description   = "Critical: The relay is falling behind the table's stream, which keeps changes for only 24 hours. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#relay-iterator-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "IteratorAge"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Maximum"
  threshold           = 43200000
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.outbox_relay.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_dead_letters_warning_shipments_dead_letters" {
  alarm_name          = "${var.name}-alarm-dead-letters-warning-shipments-dead-letters"
  alarm_description   = "Warning: Messages failed every delivery and are waiting in a dead-letter queue. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#dead-letters"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "ApproximateNumberOfMessagesVisible"
  namespace           = "AWS/SQS"
  period              = 300
  statistic           = "Maximum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    QueueName = aws_sqs_queue.shipments_dead_letters.name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_dead_letter_age_critical_shipments_dead_letters" {
  alarm_name          = "${var.name}-alarm-dead-letter-age-critical-shipments-dead-letters"
  alarm_description   = "Critical: Messages have been in a dead-letter queue for a long time, and are deleted when its retention ends. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#dead-letter-age"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "ApproximateAgeOfOldestMessage"
  namespace           = "AWS/SQS"
  period              = 300
  statistic           = "Maximum"
  threshold           = 86400
  treat_missing_data  = "notBreaching"
  dimensions = {
    QueueName = aws_sqs_queue.shipments_dead_letters.name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_function_errors_warning_create_order" {
  alarm_name          = "${var.name}-alarm-function-errors-warning-create-order"
  alarm_description   = "Warning: Invocations of a function are failing. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#function-errors"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Errors"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.create_order.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_function_errors_warning_ship_order" {
  alarm_name          = "${var.name}-alarm-function-errors-warning-ship-order"
  alarm_description   = "Warning: Invocations of a function are failing. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#function-errors"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Errors"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.ship_order.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_function_errors_warning_outbox_relay" {
  alarm_name          = "${var.name}-alarm-function-errors-warning-outbox-relay"
  alarm_description   = "Warning: Invocations of a function are failing. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#function-errors"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Errors"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.outbox_relay.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_function_errors_warning_outbox_sweeper" {
  alarm_name          = "${var.name}-alarm-function-errors-warning-outbox-sweeper"
  alarm_description   = "Warning: Invocations of a function are failing. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#function-errors"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Errors"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.outbox_sweeper.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_function_errors_warning_reconcile" {
  alarm_name          = "${var.name}-alarm-function-errors-warning-reconcile"
  alarm_description   = "Warning: Invocations of a function are failing. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#function-errors"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 1
  metric_name         = "Errors"
  namespace           = "AWS/Lambda"
  period              = 300
  statistic           = "Sum"
  threshold           = 0
  treat_missing_data  = "notBreaching"
  dimensions = {
    FunctionName = aws_lambda_function.reconcile.function_name
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_work_near_lease_warning_create_order" {
  alarm_name          = "${var.name}-alarm-work-near-lease-warning-create-order"
  alarm_description   = "Warning: The slowest runs of a function come close to its timeout, and so to the end of their leases. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#work-near-lease"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  threshold           = 80
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "expr_1"
    expression  = "100 * duration / 29000"
    return_data = true
  }

  metric_query {
    id          = "duration"
    return_data = false

    metric {
      metric_name = "Duration"
      namespace   = "AWS/Lambda"
      period      = 300
      stat        = "p99"
      dimensions = {
        FunctionName = aws_lambda_function.create_order.function_name
      }
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "alarm_work_near_lease_warning_ship_order" {
  alarm_name          = "${var.name}-alarm-work-near-lease-warning-ship-order"
  alarm_description   = "Warning: The slowest runs of a function come close to its timeout, and so to the end of their leases. Runbook: https://github.com/onceonly/onceonly/blob/main/docs/operate/runbook.md#work-near-lease"
  alarm_actions       = [var.alarm_topic]
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 3
  threshold           = 80
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "expr_1"
    expression  = "100 * duration / 29000"
    return_data = true
  }

  metric_query {
    id          = "duration"
    return_data = false

    metric {
      metric_name = "Duration"
      namespace   = "AWS/Lambda"
      period      = 300
      stat        = "p99"
      dimensions = {
        FunctionName = aws_lambda_function.ship_order.function_name
      }
    }
  }
}
