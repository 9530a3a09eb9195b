/**
 * All store operations as one Lua script: the server runs it as one step. A script that fails halfway is not undone, so an
 * operation checks the permissions for everything it may do before it changes anything. Redis 6.2 can't check them.
 */
import { createHash } from "node:crypto";
import { RECORD_VERSION, STEPS_VERSION } from "../contract.ts";

/** A larger result is loaded only for a replay, so that a refused claim stays small. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * KEYS: the record, the list of unknown outcomes, and a key for each write. ARGV: the caller's token, how long an expired record
 * stays (ms), whether a repetition is replicated, and the record's key. Then the operation and its arguments.
 *
 * Answers are lists of strings. `1` and the server's time: the record was changed. `0` and the record's fields: it was not. `2`,
 * a position and an error: that write was refused.
 *
 * The order matters. Commands that may run out of memory come first, so that a refused script has changed nothing. A record is
 * listed before it is changed and removed from the list afterwards, so that the list never lacks one.
 */
const SOURCE = `local key, index = KEYS[1], KEYS[2]
local own, keep_ms, touches, record_key = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]
local position = 5

local function take()
  position = position + 1
  return ARGV[position]
end

local function take_list()
  local list = {}
  for i = 1, tonumber(take()) do list[i] = take() end
  return list
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function text(number) return string.format('%.17g', number) end

local function get(name) return redis.call('HGET', key, name) end

local function is_mine() return get('token') == own and get('state') == 'in-progress' end

local function prefix(name) return string.sub(name, 1, 2) end

local function has_steps(names)
  for _, name in ipairs(names) do if prefix(name) == 's:' then return true end end
  return false
end

-- A connection that waits for replicas waits for what it wrote: a repetition has to write too.
local function touch()
  if touches and get('token') == own then redis.call('HSET', key, 'token', own) end
end

local function changed() return {'1', text(clock())} end

local function ask_rights(commands)
  local may = redis.acl_check_cmd
  for _, words in ipairs(may and commands or {}) do
    if not may(unpack(words)) then error({err = 'NOPERM this user may not run ' .. words[1]}) end
  end
end

local function ask_rights_of_record()
  ask_rights({
    {'TIME'}, {'HKEYS', key}, {'HSET', key, 'token', own}, {'HDEL', key, 'token'},
    {'PERSIST', key}, {'PEXPIREAT', key, '1'},
    {'ZADD', index, '0', record_key}, {'ZREM', index, record_key},
  })
end

local function repeated()
  touch()
  return changed()
end

local function record()
  local answer = {'0'}
  for _, name in ipairs(redis.call('HKEYS', key)) do
    if prefix(name) ~= 'r:' then
      local bytes = name == 'result' and redis.call('HSTRLEN', key, name) or 0
      local is_large = bytes > ${MAX_ANSWER_BYTES}
      answer[#answer + 1] = is_large and 'bytes' or name
      answer[#answer + 1] = is_large and text(bytes) or get(name)
    end
  end
  touch()
  return answer
end

local function is_seen(token, state, lease)
  local there = get('token')
  if token == '' then return not there end
  return there == token and get('state') == state and tonumber(get('lease')) == tonumber(lease)
end

-- A deletion by age is prompt here: the clocks of callers may differ, and a late use of the key has to be reported.
local function retain(expires)
  if not expires then return redis.call('PERSIST', key) end
  local at = math.min(math.max(expires * 1000, clock()) + keep_ms, 9e15)
  redis.call('PEXPIREAT', key, string.format('%.0f', at))
end

local function list(since) redis.call('ZADD', index, since, record_key) end

local is_over = false

local function put(fields, keeps_steps, keeps_evidence)
  local given = {}
  for i = 1, #fields, 2 do given[fields[i]] = fields[i + 1] end
  local is_open = given.state == 'in-progress' or given.state == 'released'
  is_over = not (given.state == 'held' or (is_open and not given.expires))
  if not is_over then list(given.settled or given.lease) end
  local before = redis.call('HKEYS', key)
  local version = keeps_steps and has_steps(before) and '${STEPS_VERSION}' or '${RECORD_VERSION}'
  redis.call('HSET', key, 'version', version, unpack(fields))
  for _, name in ipairs(before) do
    local kind, goes = prefix(name), false
    if kind == 's:' or kind == 'r:' then goes = not keeps_steps
    elseif name == 'evidence' then goes = not keeps_evidence
    else goes = name == 'settled' or name == 'expires' or name == 'result' or name == 'lost' end
    if goes and not given[name] then redis.call('HDEL', key, name) end
  end
  retain(given.expires)
end

local function take_writes()
  local writes = {}
  for i = 1, tonumber(take()) do
    local name, only_if = take(), take()
    writes[i] = {key = KEYS[2 + i], only_if = only_if, words = {name, KEYS[2 + i], unpack(take_list())}}
  end
  return writes
end

local function save(saved) return {saved, redis.call('DUMP', saved), redis.call('PTTL', saved)} end

local function restore(saved)
  -- In one command: between two, a key of a slot that is being moved would count as gone to the other node.
  if not saved[2] then return redis.call('DEL', saved[1]) end
  redis.call('RESTORE', saved[1], math.max(saved[3], 0), saved[2], 'REPLACE')
end

local function ask_rights_of_undoing(saved)
  ask_rights({{'DUMP', saved}, {'PTTL', saved}, {'DEL', saved}, {'RESTORE', saved, '0', ''}})
end

local function commit(writes, change)
  for i, write in ipairs(writes) do
    local is_there = redis.call('EXISTS', write.key) == 1
    if write.only_if ~= '' and is_there ~= (write.only_if == 'present') then return {'2', text(i - 1), ''} end
  end
  ask_rights_of_record()
  if #writes > 0 then ask_rights_of_undoing(key) end
  for i = 1, #writes - 1 do ask_rights_of_undoing(writes[i].key) end
  local saved = {}
  if #writes > 0 then saved[1] = save(key) end
  change()
  for i, write in ipairs(writes) do
    if i < #writes then saved[#saved + 1] = save(write.key) end
    local reply = redis.pcall(unpack(write.words))
    local failed = type(reply) == 'table' and reply.err
    if failed or reply == false then
      if i < #writes then saved[#saved] = nil end
      for j = #saved, 1, -1 do restore(saved[j]) end
      return {'2', text(i - 1), failed or ''}
    end
  end
  if is_over then redis.call('ZREM', index, record_key) end
  return changed()
end

local moves = {}

function moves.claim()
  local token, state, lease, keeps, fields = take(), take(), take(), take() == '1', take_list()
  if not is_seen(token, state, lease) then return record() end
  return commit({}, function() put(fields, keeps, keeps) end)
end

function moves.settle()
  local writes, state, keeps, fields = take_writes(), take(), take() == '1', take_list()
  if get('token') == own and get('state') == state then return repeated() end
  if not is_mine() then return record() end
  return commit(writes, function() put(fields, keeps, true) end)
end

function moves.insert()
  local writes, state, token, seen, lease, keeps = take_writes(), take(), take(), take(), take(), take() == '1'
  local beginning, fields = take_list(), take_list()
  if get('token') == own and get('state') == state then return repeated() end
  if is_mine() then return commit(writes, function() put(fields, true, true) end) end
  if not is_seen(token, seen, lease) then return record() end
  for _, word in ipairs(fields) do beginning[#beginning + 1] = word end
  return commit(writes, function() put(beginning, keeps, keeps) end)
end

function moves.renew()
  local lease, expires = take(), take()
  if not is_mine() or tonumber(get('lease')) > tonumber(lease) then return record() end
  local has_expiry = get('expires')
  ask_rights_of_record()
  if expires == '' then
    if not has_expiry then list(lease) end
    redis.call('HSET', key, 'lease', lease)
  else
    if not has_expiry then return record() end
    redis.call('HSET', key, 'lease', lease, 'expires', expires)
    retain(expires)
  end
  return changed()
end

function moves.step()
  local writes, fields, mark, seen = take_writes(), take_list(), take(), take()
  local is_first, is_listed = take() == '1', take() == '1'
  if not is_mine() then return record() end
  local there = get(fields[1])
  local there_mark = there and string.match(there, '^[^\\n]*') or ''
  if there_mark == mark then return repeated() end
  if there_mark ~= seen or is_first == has_steps(redis.call('HKEYS', key)) then return record() end
  return commit(writes, function()
    local lease = text(get('lease') + 1)
    if is_listed or not get('expires') then list(lease) end
    redis.call('HSET', key, 'version', '${STEPS_VERSION}', 'lease', lease, unpack(fields))
    if is_listed then
      redis.call('HDEL', key, 'expires')
      redis.call('PERSIST', key)
    end
  end)
end

moves.find = record

function moves.load()
  local name, token = take(), take()
  if token ~= '' and get('token') ~= token then return {} end
  return {get(name) or nil}
end

function moves.unsettled()
  local since, before, skipped, limit = take(), take(), take(), take()
  return redis.call('ZRANGEBYSCORE', index, since, '(' .. before, 'WITHSCORES', 'LIMIT', skipped, limit)
end

return moves[ARGV[5]]()
`;

export type Move = "claim" | "settle" | "insert" | "renew" | "step" | "find" | "load" | "unsettled";

export const SCRIPT = {
  source: SOURCE,
  /** The script's name in EVALSHA. */
  digest: createHash("sha1").update(SOURCE).digest("hex"),
};
